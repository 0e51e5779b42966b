import { render } from 'preact';
import type { FromPanel, ToPanel } from '../../src/protocol/webview';
import { registerControls } from '../ui/controls';
import { connectHost } from '../ui/host';
import { App } from './app';
import './tensors.css';

registerControls();
const root = document.getElementById('root');
if (root) render(<App host={connectHost<ToPanel, FromPanel>()} />, root);

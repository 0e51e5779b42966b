/** The debug adapter on stdio: any DAP client can start it (`node dist/adapter.js`). */
import { join } from 'node:path';
import { EmbeddedSession } from './embeddedSession';

const session = new EmbeddedSession({ root: join(__dirname, '..'), engine: join(__dirname, 'engine.js') });
session.start(process.stdin, process.stdout);

import type { DebugProtocol } from '@vscode/debugprotocol';
import { EXCEPTION_FILTERS } from './breakpoints/exceptionFilters';

/** What the embedded target can do. Only what has a test over DAP is listed. */
export const CAPABILITIES: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsFunctionBreakpoints: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsBreakpointLocationsRequest: true,
  supportsExceptionInfoRequest: true,
  exceptionBreakpointFilters: EXCEPTION_FILTERS,
  supportsExceptionFilterOptions: true,
  supportsStepBack: true,
  supportsEvaluateForHovers: true,
  supportsDelayedStackTraceLoading: true,
  supportsCancelRequest: true,
  supportsTerminateRequest: true,
  supportsRestartRequest: true,
};

import type { DebugProtocol } from '@vscode/debugprotocol';
import { PYTHON_FILTERS, TENSOR_FILTERS } from './exceptionFilters';

/**
 * What debugpy and we can do together. Given before there is a process: debugpy's part does not depend on it.
 * False where the other target can and this one cannot, since a client may have been told of that one first.
 */
export const PYTORCH_CAPABILITIES: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsFunctionBreakpoints: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsBreakpointLocationsRequest: false,
  exceptionBreakpointFilters: [...PYTHON_FILTERS, ...TENSOR_FILTERS],
  supportsExceptionFilterOptions: true,
  supportsExceptionOptions: true,
  supportsExceptionInfoRequest: true,
  /** Switched on while a scan is open. */
  supportsStepBack: false,
  supportsStepInTargetsRequest: true,
  supportsGotoTargetsRequest: true,
  supportsCompletionsRequest: true,
  supportsModulesRequest: true,
  supportsSetVariable: true,
  supportsSetExpression: true,
  supportsEvaluateForHovers: true,
  supportsClipboardContext: true,
  supportsValueFormattingOptions: true,
  supportsDelayedStackTraceLoading: true,
  supportsCancelRequest: true,
  supportTerminateDebuggee: true,
  supportsTerminateRequest: true,
  supportsRestartRequest: false,
};

/** What went wrong, in words, and what to do about it. The first is the gateway's own sentence, the second is ours. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: string;
  readonly requestId: string | null;
  /** The field that is wrong, when one is. */
  readonly param: string | null;

  constructor(code: string, message: string, requestId: string | null = null, param: string | null = null) {
    super(message);
    this.code = code;
    this.requestId = requestId;
    this.param = param;
  }

  get advice(): string {
    return adviceByCode[this.code] ?? "Try again. If it stays, give the request id to whoever runs the gateway.";
  }
}

/** A problem from an answer that is not OK. Reads both error shapes; a body that is neither still gives a sentence. */
export async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get("x-request-id");
  const body: unknown = await response.json().catch(() => null);
  return problemOfBody(body, requestId) ?? new Problem(`http_${response.status}`, statusSentence(response), requestId);
}

/** A problem from `{"error":{"message","code"}}`; null when the value has no such thing. */
export function problemOfBody(body: unknown, requestId: string | null): Problem | null {
  const error = member(body, "error");
  const message = member(error, "message");
  if (typeof message !== "string" || message === "") return null;
  const code = member(error, "code") ?? member(error, "type");
  const param = member(error, "param");
  return new Problem(
    typeof code === "string" ? code : "upstream_error",
    message,
    requestId,
    typeof param === "string" ? param : null,
  );
}

export function unreachable(cause: unknown): Problem {
  const problem = new Problem("unreachable", `No answer from ${location.origin}.`);
  problem.cause = cause;
  return problem;
}

/** Whatever was thrown, as a problem. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  // What fetch throws when a body that had begun is cut.
  if (thrown instanceof TypeError) return new Problem("upstream_truncated", "The connection broke in the middle.");
  return new Problem("unexpected", String(thrown));
}

export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}

function statusSentence(response: Response): string {
  const status = `${response.status} ${response.statusText}`.trimEnd();
  return `The answer was ${status} and held no explanation.`;
}

const adviceByCode: Readonly<Record<string, string>> = {
  unreachable: "Check that the gateway runs and that this page was opened at its address, then try again.",
  invalid_api_key: "Paste the whole key. npm start prints a working one; sluice key create makes another.",
  expired_api_key: "Ask an administrator for a new key.",
  disabled_api_key: "Ask an administrator to switch the key on again, or use another one.",
  ip_not_allowed: "The key is bound to other addresses. Use it from there, or ask for it to be widened.",
  forbidden: "Ask somebody with more rights here, or whoever runs this gateway.",
  not_signed_in: "Sign in, then try again.",
  sign_in_refused: "Check what you gave, then try again.",
  passkey_dismissed: "Try again, or sign in another way.",
  passkey_known: "Use it to sign in, or add one on another device.",
  passkey_address: "Open the console at its public address, or at http://localhost on this machine.",
  passkey_failed: "Try again, or sign in another way.",
  confirm_sign_in: "Sign in again, then repeat it.",
  not_found: "It may have been removed, or it belongs to another workspace.",
  managed_by_file: "The config file owns this. Change it there; the gateway reads the file again by itself.",
  conflict: "Change what stands in the way, or load the page again to see how it is now.",
  budget_exceeded: "Wait until the budget frees again, or ask an administrator to raise it.",
  rate_limit_exceeded: "Wait a moment, then try again.",
  model_not_found: "Choose a model from the list on this page.",
  invalid_request: "Change the field that is named and try again.",
  unsupported_by_model: "Choose another model.",
  no_deployment_available: "Nothing serves this model now. The operator finds why with sluice doctor.",
  upstream_unreachable: "The provider could not be reached. Try again, or choose another model.",
  upstream_timeout: "The provider took too long. Try again, or choose another model.",
  upstream_truncated: "What you see is not the whole answer. Send the message again.",
  upstream_error: "The provider refused or failed. Try again, or choose another model.",
  storage_unavailable: "The place where files are kept cannot be used now. Try again in a moment.",
  overloaded: "The gateway holds too many large requests at the moment. Try again.",
  ledger_unavailable: "The gateway cannot write its ledger, so it sends nothing. Tell the operator to check the disk.",
  draining: "The gateway is shutting down. Try again in a moment.",
  request_too_large: "Send less: a shorter text or a smaller file.",
};

import { t } from "../language/areas/problems.ts";
/** What went wrong, in words, and what to do about it. The first is the gateway's own sentence, the second is ours. */
export class Problem extends Error {
  override readonly name = t("problems.problem");
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
    return adviceByCode[this.code] ?? t("problems.tryAgainIfItStays");
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
  const problem = new Problem("unreachable", t("problems.noAnswerFrom", { origin: location.origin }));
  problem.cause = cause;
  return problem;
}

/** Whatever was thrown, as a problem. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  // What fetch throws when a body that had begun is cut.
  if (thrown instanceof TypeError) return new Problem("upstream_truncated", t("problems.theConnectionBrokeInThe"));
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
  return t("problems.theAnswerWasAndHeld", { status });
}

const adviceByCode: Readonly<Record<string, string>> = {
  unreachable: t("problems.checkThatTheGatewayRuns"),
  invalid_api_key: t("problems.pasteTheWholeKeyNpm"),
  expired_api_key: t("problems.askAnAdministratorForA"),
  disabled_api_key: t("problems.askAnAdministratorToSwitch"),
  ip_not_allowed: t("problems.theKeyIsBoundTo"),
  forbidden: t("problems.askSomebodyWithMoreRights"),
  not_signed_in: t("problems.signInThenTryAgain"),
  sign_in_refused: t("problems.checkWhatYouGaveThen"),
  passkey_dismissed: t("problems.tryAgainOrSignIn"),
  passkey_known: t("problems.useItToSignIn"),
  passkey_address: t("problems.openTheConsoleAtIts"),
  passkey_failed: t("problems.tryAgainOrSignIn"),
  confirm_sign_in: t("problems.signInAgainThenRepeat"),
  not_found: t("problems.itMayHaveBeenRemoved"),
  managed_by_file: t("problems.theConfigFileOwnsThis"),
  conflict: t("problems.changeWhatStandsInThe"),
  budget_exceeded: t("problems.waitUntilTheBudgetFrees"),
  rate_limit_exceeded: t("problems.waitAMomentThenTry"),
  model_not_found: t("problems.chooseAModelFromThe"),
  invalid_request: t("problems.changeTheFieldThatIs"),
  unsupported_by_model: t("problems.chooseAnotherModel"),
  no_deployment_available: t("problems.nothingServesThisModelNow"),
  upstream_unreachable: t("problems.theProviderCouldNotBe"),
  upstream_timeout: t("problems.theProviderTookTooLong"),
  upstream_truncated: t("problems.whatYouSeeIsNot"),
  upstream_error: t("problems.theProviderRefusedOrFailed"),
  storage_unavailable: t("problems.thePlaceWhereFilesAre"),
  overloaded: t("problems.theGatewayHoldsTooMany"),
  ledger_unavailable: t("problems.theGatewayCannotWriteIts"),
  draining: t("problems.theGatewayIsShuttingDown"),
  request_too_large: t("problems.sendLessAShorterText"),
};

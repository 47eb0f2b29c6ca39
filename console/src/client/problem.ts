import { t } from "../language/areas/problems.ts";
import { language } from "../language/chosen.ts";
import { problems } from "../language/en/problems.ts";
import type { Language } from "../language/languages.ts";

/** The problem (`message`) and how to solve it (`advice`), in the language of the page. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: string;
  readonly requestId: string | null;
  /** The invalid field, if the error is about one. */
  readonly param: string | null;
  /** The gateway's English message, more specific than the code. null: the problem did not come from the gateway. */
  readonly gatewayMessage: string | null;

  constructor(
    code: string,
    message: string,
    requestId: string | null = null,
    param: string | null = null,
    gatewayMessage: string | null = null,
  ) {
    super(message);
    this.code = code;
    this.requestId = requestId;
    this.param = param;
    this.gatewayMessage = gatewayMessage;
  }

  get advice(): string {
    return isMember(problems.advice, this.code) ? t(`problems.advice.${this.code}`) : t("problems.otherAdvice");
  }
}

/** The message to show: the gateway's own in English, a text by code in other languages. */
export function sentenceOf(code: string, message: string, language: Language): string {
  if (language === "en" && message !== "") return message;
  return isMember(problems.message, code) ? t(`problems.message.${code}`) : t("problems.unknown");
}

/** Whether the texts contain this key. */
export function isMember<Members extends object>(members: Members, name: string): name is keyof Members & string {
  return Object.hasOwn(members, name);
}

/** The problem of an unsuccessful response. Reads both error formats; any other body gets a general message. */
export async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get("x-request-id");
  const body: unknown = await response.json().catch(() => null);
  return problemOfBody(body, requestId) ?? new Problem(`http_${response.status}`, statusSentence(response), requestId);
}

/** A problem from `{"error":{"message","code"}}`; null for any other value. */
export function problemOfBody(body: unknown, requestId: string | null): Problem | null {
  const error = member(body, "error");
  const message = member(error, "message");
  if (typeof message !== "string" || message === "") return null;
  const named = member(error, "code") ?? member(error, "type");
  const code = typeof named === "string" ? named : "upstream_error";
  const param = member(error, "param");
  const sentence = sentenceOf(code, message, language);
  return new Problem(code, sentence, requestId, typeof param === "string" ? param : null, message);
}

export function unreachable(cause: unknown): Problem {
  const problem = new Problem("unreachable", t("problems.message.unreachable"));
  problem.cause = cause;
  return problem;
}

/** Converts any thrown value to a problem. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  // The error that fetch throws when a body breaks off.
  if (thrown instanceof TypeError) return new Problem("upstream_truncated", t("problems.message.upstream_truncated"));
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
  return t("problems.noExplanation", { status });
}

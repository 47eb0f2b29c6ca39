import type { Failure, TaskError } from "#core/index.ts";
import { isObject, openaiChat, parseObject, textOf } from "#protocols/index.ts";

/** A vendor's refusal in our error format, with its status, code and message. Returns other failures unchanged. */
export function refusalForCaller(failure: Failure, requestId: string): Failure {
  if (failure.upstream === undefined) return failure;
  const { status, body } = failure.upstream;
  const { code, message } = status >= 500 ? { code: "overloaded", message: failure.message } : errorIn(body, status);
  const words = openaiChat.renderRefusal({ status, message, code, contextLength: false }, requestId);
  return failure.with({
    message,
    upstream: {
      status: status >= 500 ? 503 : status,
      contentType: "application/json",
      body: new TextEncoder().encode(words),
    },
  });
}

/** The error for the task's row. */
export function taskErrorOf(failure: Failure): TaskError {
  if (failure.upstream === undefined || failure.upstream.status >= 500) {
    return { code: failure.code, message: failure.message };
  }
  const { code, message } = errorIn(failure.upstream.body, failure.upstream.status);
  return { code: code ?? failure.code, message };
}

/** `{error:{code,message}}`, `{code,message}`, `{error:"…"}`, `{title,detail}`, `{base_resp:{status_code,status_msg}}`. */
function errorIn(body: Uint8Array, status: number): { readonly code: string | null; readonly message: string } {
  const whole = parseObject(new TextDecoder().decode(body)) ?? {};
  for (const name of ["error", "base_resp", ""]) {
    const value = name === "" ? whole : whole[name];
    if (typeof value === "string" && value !== "") return { code: null, message: value.slice(0, messageMax) };
    if (!isObject(value)) continue;
    const message = ["message", "status_msg", "detail", "title", "err_msg"]
      .map((key) => textOf(value[key]))
      .find(Boolean);
    if (message == null) continue;
    const code = value["code"] ?? value["status_code"] ?? value["type"] ?? null;
    const codeText = typeof code === "string" || typeof code === "number" ? String(code).slice(0, codeMax) : null;
    return { code: codeText, message: message.slice(0, messageMax) };
  }
  return { code: null, message: `The upstream answered ${status}.` };
}

const messageMax = 2_000;
const codeMax = 128;

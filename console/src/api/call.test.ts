import { expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { Problem } from "../client/problem.ts";
import { createCall } from "./call.ts";
import { Confirmation } from "./confirmation.ts";

function dependencies(answers: readonly (Problem | object)[]) {
  const confirmation = new Confirmation();
  const sent: string[] = [];
  let signedOut = 0;
  const left = [...answers];
  const call = createCall({ confirmation, onSignedOut: () => signedOut++ }, async (path, { method }) => {
    sent.push(`${method} ${path}`);
    const answer = left.shift();
    if (answer instanceof Problem) throw answer;
    return answer;
  });
  return { call, confirmation, sent, signedOut: () => signedOut };
}
const stale = new Problem("confirm_sign_in", "Sign in again.");
const remove = { params: { model: "gpt/4.1" } };

test("a call that needs a fresh sign-in waits for it and is then retried", async () => {
  const { call, confirmation, sent } = dependencies([stale, {}]);
  const removed = call("models.remove", remove);
  await until(() => confirmation.isOpen());
  expect([confirmation.isOpen(), sent.length]).toEqual([true, 1]);
  confirmation.answer(true);
  expect(await removed).toEqual({});
  expect(sent).toEqual(["DELETE /api/models/gpt%2F4.1", "DELETE /api/models/gpt%2F4.1"]);
  expect(confirmation.isOpen()).toBe(false);
});

test("two calls that need it share one dialog, and a dismissed one sends nothing again", async () => {
  const { call, confirmation, sent } = dependencies([stale, stale]);
  const both = Promise.allSettled([call("models.remove", remove), call("models.remove", remove)]);
  await until(() => confirmation.isOpen() && sent.length === 2);
  confirmation.answer(false);
  expect((await both).map((each) => (each.status === "rejected" ? each.reason : null))).toEqual([stale, stale]);
  expect(sent.length).toBe(2);
});

test("an ended session is reported, an abort is rethrown, and other errors become problems", async () => {
  const gone = dependencies([new Problem("not_signed_in", "Sign in first.")]);
  expect(await gone.call("tokens.list").catch((thrown: unknown) => thrown)).toBeInstanceOf(Problem);
  expect(gone.signedOut()).toBe(1);
  const abort = new DOMException("stop", "AbortError");
  const call = createCall({ confirmation: new Confirmation(), onSignedOut: () => undefined }, async () => {
    throw abort;
  });
  expect(await call("tokens.list").catch((thrown: unknown) => thrown)).toBe(abort);
  const broken = createCall({ confirmation: new Confirmation(), onSignedOut: () => undefined }, async () => {
    throw new SyntaxError("not JSON");
  });
  expect(await broken("tokens.list").catch((thrown: unknown) => thrown)).toMatchObject({ code: "unexpected" });
});

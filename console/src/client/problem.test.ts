import { expect, test } from "bun:test";
import { errorCodes } from "@sluice/contract";
import { Problem, problemOf } from "./problem.ts";

test("an error is shown with the gateway's own sentence, its code and its request id", async () => {
  const body = { error: { message: "Budget used up.", type: "insufficient_quota", code: "budget_exceeded" } };
  const problem = await problemOf(Response.json(body, { status: 402, headers: { "x-request-id": "req_1" } }));
  expect([problem.message, problem.code, problem.requestId]).toEqual(["Budget used up.", "budget_exceeded", "req_1"]);
  expect(problem.advice).toContain("budget");
});

test("an answer that is not JSON still gives a sentence", async () => {
  const problem = await problemOf(new Response("<html>", { status: 502, statusText: "Bad Gateway" }));
  expect(problem.message).toBe("The answer was 502 Bad Gateway and held no explanation.");
  expect(problem.advice).not.toBe("");
});

test("every failure a chat call can meet comes with advice of its own", () => {
  const general = new Problem("something else", "").advice;
  const notMet =
    /^(task|asset|websocket)|client_closed|internal_error|idempotency|method|media_type|version|json|required|not_found$|conflict|request_timeout/;
  for (const code of Object.keys(errorCodes).filter((code) => code === "model_not_found" || !notMet.test(code))) {
    expect(new Problem(code, "").advice, code).not.toBe(general);
  }
});

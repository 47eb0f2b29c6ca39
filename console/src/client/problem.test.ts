import { expect, test } from "bun:test";
import { errorCodes } from "@sluice/contract";
import { problems } from "../language/en/problems.ts";
import { Problem, problemOf, sentenceOf } from "./problem.ts";

test("an error is shown with the gateway's own sentence, its code and its request id", async () => {
  const body = { error: { message: "Budget used up.", type: "insufficient_quota", code: "budget_exceeded" } };
  const problem = await problemOf(Response.json(body, { status: 402, headers: { "x-request-id": "req_1" } }));
  expect([problem.message, problem.code, problem.requestId]).toEqual(["Budget used up.", "budget_exceeded", "req_1"]);
  expect(problem.advice).toContain("budget");
});

test("a response that is not JSON gets a message", async () => {
  const problem = await problemOf(new Response("<html>", { status: 502, statusText: "Bad Gateway" }));
  expect(problem.message).toBe("The gateway returned 502 Bad Gateway without an explanation.");
  expect(problem.advice).not.toBe("");
});

test("every error of a chat call has specific advice", () => {
  const general = new Problem("something else", "").advice;
  const notMet =
    /^(task|asset|websocket)|client_closed|internal_error|idempotency|method|media_type|version|json|required|not_found$|conflict|request_timeout/;
  for (const code of Object.keys(errorCodes).filter((code) => code === "model_not_found" || !notMet.test(code))) {
    expect(new Problem(code, "").advice, code).not.toBe(general);
  }
});

test("every error code of the gateway has a text in the console, so that it can be translated", () => {
  expect(Object.keys(errorCodes).filter((code) => !Object.hasOwn(problems.message, code))).toEqual([]);
  expect(sentenceOf("budget_exceeded", "Budget of key a used up.", "en")).toBe("Budget of key a used up.");
  expect(sentenceOf("budget_exceeded", "Budget of key a used up.", "zh-CN")).toBe(problems.message.budget_exceeded);
  expect(sentenceOf("vendor_code", "No.", "zh-CN")).toBe(problems.unknown);
});

test("the gateway's English message stays available in every language", async () => {
  const problem = await problemOf(Response.json({ error: { message: "No.", code: "conflict" } }, { status: 409 }));
  expect(problem.gatewayMessage).toBe("No.");
  expect(new Problem("conflict", "Ours.").gatewayMessage).toBeNull();
});

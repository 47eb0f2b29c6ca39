import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { openaiResponsesWire } from "./index.ts";

const read = (value: unknown) =>
  openaiResponsesWire.readReply(new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)));
const usage = { input_tokens: 10, output_tokens: 3, total_tokens: 13 };
const response = { id: "resp_1", object: "response", status: "completed", error: null, output: [] };

describe("a whole response", () => {
  test("tells its usage whether it was completed, incomplete or failed", () => {
    for (const status of ["completed", "incomplete", "failed"]) {
      const error = status === "failed" ? { code: "server_error", message: "oops" } : null;
      const facts = read({ ...response, status, error, usage });
      expect(facts.usage?.usage).toMatchObject({ inputUncached: 10, output: 3 });
      expect(facts.errorMessage).toBeNull();
      expect(facts.id).toBe("resp_1");
    }
  });

  test("that still runs in the background has used nothing that is known yet", () => {
    for (const status of ["queued", "in_progress"]) {
      expect(read({ ...response, status, usage: null })).toMatchObject({
        usage: null,
        outputEstimate: 0,
        id: "resp_1",
      });
    }
  });

  test("without usage is estimated by what it holds; explicit zeros are values", () => {
    const message = { type: "message", content: [{ type: "output_text", text: "x".repeat(400) }] };
    expect(read({ ...response, output: [message] }).outputEstimate).toBeGreaterThan(100);
    const zero = { input_tokens: 0, output_tokens: 0 };
    expect(read({ ...response, output: [message], usage: zero })).toMatchObject({ outputEstimate: 0 });
    expect(read({ ...response, usage: zero }).usage?.usage.output).toBe(0);
  });

  test("is not mistaken for an error, nor an error for it", () => {
    expect(read({ error: { message: "no such thing" } }).errorMessage).toBe("no such thing");
    expect(() => read({ hello: 1 })).toThrow(Failure);
    expect(() => read("not json")).toThrow(Failure);
  });
});

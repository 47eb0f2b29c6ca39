import { expect, test } from "bun:test";
import { Problem } from "../../client/problem.ts";
import { answerEvents } from "./answer-events.ts";

const streamed = (...events: readonly string[]) =>
  new Response(events.map((event) => `data: ${event}\n\n`).join(""), { headers: { "x-request-id": "req_1" } });

async function read(response: Response, last?: string): Promise<readonly unknown[] | string> {
  const seen: unknown[] = [];
  try {
    for await (const event of answerEvents(response, (each) => Reflect.get(Object(each), "type") === last))
      seen.push(event);
    return seen;
  } catch (thrown) {
    return thrown instanceof Problem ? `${thrown.code} ${thrown.requestId}` : String(thrown);
  }
}

test("an answer ends with its last event or [DONE]; one that stops earlier is incomplete", async () => {
  expect(await read(streamed('{"a":1}', "[DONE]"))).toEqual([{ a: 1 }]);
  expect(await read(streamed('{"type":"more"}', '{"type":"done"}'), "done")).toHaveLength(2);
  expect(await read(streamed('{"type":"more"}'), "done")).toBe("upstream_truncated req_1");
});

test("an error in mid-stream is a problem with the request's id", async () => {
  expect(await read(streamed('{"error":{"message":"no","code":"upstream_error"}}'))).toBe("upstream_error req_1");
  expect(await read(streamed("{"))).toBe("upstream_error req_1");
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readMessages } from "./read-messages.ts";
import { goodRequests, refusedRequests, refusedResponses } from "./vectors.ts";

describe("reads a request", () => {
  test.each(goodRequests)("with %s", (_what, text, start, body) => {
    const { messages, refused } = readMessages(text);
    expect(refused).toBeNull();
    expect(messages).toMatchObject([{ start, body, whole: true }]);
  });

  test("from consecutive bytes one after the other", () => {
    const { messages, refused } = readMessages(goodRequests.map(([, text]) => text).join(""));
    expect(refused).toBeNull();
    expect(messages.map(({ start, body }) => [start, body])).toEqual(
      goodRequests.map(([, , start, body]) => [start, body]),
    );
  });
});

describe("refuses a request", () => {
  test.each(refusedRequests)("with %s", (_what, text, reason) => {
    expect(readMessages(text)).toMatchObject({ refused: reason });
    expect(readMessages(text, { cuts: everywhere(text) })).toMatchObject({ refused: reason });
  });
});

describe("refuses a response", () => {
  test.each(refusedResponses)("with %s", (_what, text, reason) => {
    expect(readMessages(text, { method: "POST" })).toMatchObject({ refused: reason });
    expect(readMessages(text, { method: "POST", cuts: everywhere(text) })).toMatchObject({ refused: reason });
  });
});

describe("ends a response's body", () => {
  test.each([
    ["at its length", "POST", "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc", "abc", true],
    [
      "at its last chunk",
      "POST",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      "abc",
      true,
    ],
    ["with the connection", "POST", "HTTP/1.1 200 OK\r\n\r\nabc", "abc", true],
    [
      "nowhere, when it is cut before its length",
      "POST",
      "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nabc",
      "abc",
      false,
    ],
    [
      "nowhere, when it is cut before its last chunk",
      "POST",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
      "abc",
      false,
    ],
    ["at once for HEAD", "HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n", "", true],
    ["at once without content", "POST", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
    ["at once where nothing was modified", "GET", "HTTP/1.1 304 Not Modified\r\ncontent-length: 3\r\n\r\n", "", true],
    [
      "after interim responses",
      "POST",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\na: b\r\n\r\nHTTP/1.1 200\r\ncontent-length: 1\r\n\r\na",
      "a",
      true,
    ],
  ])("%s", (_what, method, text, body, whole) => {
    for (const cuts of [[], everywhere(text)]) {
      const { messages, refused } = readMessages(text, { method, cuts });
      expect(refused).toBeNull();
      expect(messages).toMatchObject([{ body, whole }]);
    }
  });
});

test("gives the same result for any cut of the bytes", () => {
  const texts = [...goodRequests, ...refusedRequests].map(([, text]) => text).filter((text) => text.length < 400);
  const read = (text: string, cuts: readonly number[]) => {
    const { messages, refused } = readMessages(text, { cuts });
    // If a chunk has two faults, the later one may be reported.
    return { messages, refused: refused !== null };
  };
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...texts), { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(400)),
      (some, cuts) => {
        const text = some.join("");
        expect(read(text, cuts)).toEqual(read(text, []));
      },
    ),
    { numRuns: 2_000 },
  );
});

function everywhere(text: string): number[] {
  return Array.from({ length: text.length }, (_, index) => index);
}

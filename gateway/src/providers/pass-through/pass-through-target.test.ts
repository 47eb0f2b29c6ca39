import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { providerOf } from "../../../test/provider-fixture.ts";
import { passThroughTarget } from "./pass-through-target.ts";

const openai = providerOf("openai");
const target = (path: string, query = "", provider = openai) => passThroughTarget(provider, path, query);
const codeOf = (path: string, query = ""): string => {
  try {
    return target(path, query).url;
  } catch (thrown) {
    return thrown instanceof Failure ? thrown.code : String(thrown);
  }
};

describe("a pass-through target", () => {
  test("is below the base URL for every spelling of the path", () => {
    // Targets as the server passes them on, without any earlier check.
    const hostile = [
      "/../x",
      "/..",
      "/./x",
      "/a/../../x",
      "/a/..;/x",
      "/%2e%2e/x",
      "/%2E%2e%2fx",
      "/a//b",
      "//evil.example/x",
    ];
    const encoded = [
      "/a%2fb",
      "/a%5Cb",
      "/a\\b",
      "/a%252e",
      "/a%00",
      "/a%0d%0ax",
      "/a b",
      "/a?b",
      "/a#b",
      "/a%zz",
      "/a%ff",
      "/é",
      '/"',
    ];
    for (const path of [...hostile, ...encoded]) expect(`${path}: ${codeOf(path)}`).toBe(`${path}: invalid_request`);
    for (const path of ["/@evil.example/x", "/:80/x", "/http:/x", "/a;b=c", "/~a", "/a%20b", "/"]) {
      const { url } = target(path);
      expect(new URL(url).origin).toBe("https://api.openai.com");
      expect(new URL(url).pathname).toStartWith("/v1");
    }
  });

  test("does not repeat the version of the base URL", () => {
    const at = (baseUrl: string) => providerOf("openai-compatible", { baseUrl });
    expect(target("/v1/files", "", at("https://x.example/openai/v1")).url).toBe("https://x.example/openai/v1/files");
    expect(target("/openai/v1/files", "", at("https://x.example/openai/v1/")).url).toBe(
      "https://x.example/openai/v1/files",
    );
    expect(target("/api/v3/x", "", at("https://x.example/api/v3")).url).toBe("https://x.example/api/v3/x");
    expect(target("/models/x", "", at("https://x.example/models")).url).toBe("https://x.example/models/models/x");
    expect(target("/v1x", "", at("https://x.example/v1")).url).toBe("https://x.example/v1/v1x");
  });

  test("removes ids from the path class", () => {
    const classes = {
      "/files": "/files",
      "/v1/files/file-Abc123/content": "/files/{id}/content",
      "/files/letters": "/files/{id}",
      "/vector_stores/vs_1/file_batches/vsfb_2/cancel": "/vector_stores/{id}/file_batches/{id}/cancel",
      "/models/gemini-2.5-pro:generateContent": "/models/{id}:generateContent",
      "/v1beta/cachedContents/abc": "/v1beta/cachedContents/{id}",
      "/sk-proj-SECRET/x": "/{id}/x",
      "/a/b/c/d/e/f/g/h/i/j": "/a/b/c/d/e/f/g/h/…",
      "/": "/",
    };
    for (const [path, shown] of Object.entries(classes)) expect(target(path, "after=secret").pathClass).toBe(shown);
  });

  test("finds the lane of the path below the base URL", () => {
    expect(target("/v1/chat/completions").lane).toMatchObject({ lane: { endpoint: "chat" }, model: null });
    expect(target("/v1/chat/completions/").lane).toMatchObject({ lane: { endpoint: "chat" } });
    expect(target("/v1/Chat/completions").lane).toMatchObject({ lane: { endpoint: "chat" } });
    expect(target("/v1/chat/completions/x").lane).toBeNull();
    expect(target("/x/v1/chat/completions").lane).toBeNull();
    const gemini = providerOf("gemini");
    const stream = "/v1beta/models/gemini-2.5-pro:streamGenerateContent";
    expect(target(stream, "alt=sse", gemini).lane).toMatchObject({ model: "gemini-2.5-pro", streamPath: true });
    // Without it the answer is a single JSON array, which the gateway does not parse.
    expect(target(stream, "", gemini).lane).toBeNull();
    const bedrock = providerOf("bedrock");
    expect(target("/model/anthropic.claude-x/invoke", "", bedrock).lane?.lane.dialect).toBe("anthropic-messages");
    expect(target("/model/amazon.titan-embed-text-v2:0/invoke", "", bedrock).lane?.lane.dialect).toBe(
      "titan-embeddings",
    );
  });

  test("forwards the query and rejects credentials in it", () => {
    expect(target("/files", "a=1&a=2&b=%20+c&d").url).toBe("https://api.openai.com/v1/files?a=1&a=2&b=%20+c&d");
    for (const query of [
      "key=x",
      "KEY=x",
      "%6bey=x",
      "+key=x",
      "a=1&Token=x",
      "X-Amz-Security-Token=x",
      "x-goog-signature=x",
    ]) {
      expect(codeOf("/files", query)).toBe("invalid_request");
    }
    for (const query of ["monkey=1", "keys=1", "page_token=x", "api-version=2024-10-21", "pageToken=x"]) {
      expect(codeOf("/files", query)).toContain(query);
    }
    for (const query of ["a=\u0000", "a=b c", "a=b#c", `a=${"x".repeat(9_000)}`])
      expect(codeOf("/files", query)).toBe("invalid_request");
  });
});

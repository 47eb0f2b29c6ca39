import { expect, test } from "bun:test";
import { redactedSource } from "./redacted-source.ts";

test("keeps comments, layout and variables, and redacts secrets", () => {
  const text = `# ours
providers:
  - id: main
    kind: ark
    api_key: sk-in-the-open   # bad habit
    settings: { access_key_id: AKID123, secret_access_key: "hush", region: cn-beijing }
  - { id: other, kind: openai, api_key: "\${OPENAI_API_KEY}" }
  - id: third
    kind: openai
    api_key: >-
      folded
      secret
workspaces:
  - slug: acme
    keys:
      - { name: ci, secret: "prefix-\${HALF}", limits: { rpm: 60 } }
`;
  const shown = redactedSource(text, () => true) ?? "";
  for (const secret of ["in-the-open", "AKID123", "hush", "folded", "prefix-"]) expect(shown).not.toContain(secret);
  expect(shown).toContain("# ours");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the config file.
  expect(shown).toContain('api_key: "${OPENAI_API_KEY}"');
  expect(shown).toContain("region: cn-beijing");
  expect(shown).toContain("rpm: 60");
});

test("redacts JSON, and keeps the shape of lists", () => {
  const shown = redactedSource('{"workspaces":[{"slug":"a","keys":[{"name":"k","secret":"abc"}]}]}', () => true);
  expect(shown).toBe('{"workspaces":[{"slug":"a","keys":[{"name":"k","secret":"[redacted]"}]}]}');
});

test("returns null for a text that cannot be parsed", () => {
  expect(redactedSource("a: [unclosed\napi_key: sk-1234", () => true)).toBeNull();
});

test("redacts hidden provider settings, and keys in comments", () => {
  const text = `providers:
  - id: main
    kind: openai
    # api_key: sk-of-last-year
    settings: { proxy: "http://me:hush@proxy.example:3128", region: eu }
  - { settings: &more { extra: hush }, kind: openai, id: other }
  - { id: third, kind: openai, settings: *more }
  - { id: fourth, kind: openai, settings: { proxy: "\${PROXY}" } }
settings:
  ledger: { retention_days: 30 }
`;
  const shown = redactedSource(text, (kind, name) => kind === "openai" && name === "region") ?? "";
  for (const secret of ["hush", "last-year"]) expect(shown).not.toContain(secret);
  for (const plain of ["region: eu", "settings: *more", 'proxy: "$', "ledger: { retention_days: 30 }"]) {
    expect(shown).toContain(plain);
  }
});

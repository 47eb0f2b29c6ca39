import { expect, test } from "bun:test";
import { redactedSource } from "./redacted-source.ts";

test("a config file is shown with its comments, its layout and its variables, and without any secret", () => {
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
  const shown = redactedSource(text) ?? "";
  for (const secret of ["in-the-open", "AKID123", "hush", "folded", "prefix-"]) expect(shown).not.toContain(secret);
  expect(shown).toContain("# ours");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the config file.
  expect(shown).toContain('api_key: "${OPENAI_API_KEY}"');
  expect(shown).toContain("region: cn-beijing");
  expect(shown).toContain("rpm: 60");
});

test("JSON is shown the same way, and lists of keys keep their shape", () => {
  const shown = redactedSource('{"workspaces":[{"slug":"a","keys":[{"name":"k","secret":"abc"}]}]}');
  expect(shown).toBe('{"workspaces":[{"slug":"a","keys":[{"name":"k","secret":"[redacted]"}]}]}');
});

test("a text that cannot be read is not shown at all", () => {
  expect(redactedSource("a: [unclosed\napi_key: sk-1234")).toBeNull();
});

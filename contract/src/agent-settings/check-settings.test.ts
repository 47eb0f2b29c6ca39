import { expect, test } from "bun:test";
import { checkAgentSettings } from "./check-settings.ts";

const paths = (list: readonly { readonly path: string; readonly code: string }[]) =>
  list.map(({ path, code }) => `${path} ${code}`);

test("accepts the usual settings without errors and warnings", () => {
  expect(
    checkAgentSettings({
      model: "claude-opus-4-7",
      availableModels: ["opus", "claude-sonnet-5-5"],
      permissions: {
        allow: ["Bash(npm run *)", "mcp__github__search_repositories", "WebFetch(domain:example.com)", "Read"],
        deny: ["Read(./.env)"],
        defaultMode: "acceptEdits",
        disableBypassPermissionsMode: "disable",
      },
      env: { CLAUDE_CODE_ENABLE_TELEMETRY: "1" },
      hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "check", timeout: 5 }] }] },
      sandbox: { enabled: true, network: { allowedDomains: ["*.example.com"] } },
      strictPluginOnlyCustomization: ["skills"],
      cleanupPeriodDays: 20,
    }),
  ).toEqual({ errors: [], warnings: [] });
});

test("a wrong type is an error with its path; an unknown field is a warning", () => {
  const { errors, warnings } = checkAgentSettings({
    model: 5,
    availableModels: ["a", 1],
    permissions: { allow: "Bash", deny: ["Read(", "!x"], defaultMode: "yolo", made: {} },
    env: { A: 1, "B C": "x" },
    cleanupPeriodDays: 1.5,
    sandbox: { network: [] },
    hooks: { PreToolUse: [{ hooks: [{ command: true }] }] },
    toString: "x",
    $made: null,
    apiKeyHelper: null,
  });
  expect(paths(errors)).toEqual([
    "model type",
    "availableModels[1] type",
    "permissions.allow type",
    "env.A type",
    "cleanupPeriodDays type",
    "sandbox.network type",
    "hooks.PreToolUse[0].hooks[0].command type",
    "apiKeyHelper type",
  ]);
  expect(errors[0]?.expected).toEqual(["string"]);
  expect(paths(warnings)).toEqual([
    "permissions.deny[0] rule",
    "permissions.deny[1] rule",
    "permissions.defaultMode value",
    "permissions.made unknown",
    "env.B C env_name",
    "toString unknown",
    "$made unknown",
    "availableModels first_model",
  ]);
});

test("warns if the list of models may not allow the default model", () => {
  const first = (settings: object) => checkAgentSettings(settings as Record<string, unknown>).warnings.length;
  expect(first({ availableModels: ["a"] })).toBe(1);
  expect(first({ availableModels: ["a"], model: "a" })).toBe(0);
  expect(first({ availableModels: ["a"], enforceAvailableModels: true })).toBe(0);
  expect(first({ availableModels: [] })).toBe(0);
});

test("returns a bounded number of errors and warnings", () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`made${at}`, at]));
  expect(checkAgentSettings(many).warnings).toHaveLength(100);
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the notation under test
import { expect, test } from "bun:test";
import fc from "fast-check";
import { ConfigInvalid } from "./config-invalid.ts";
import type { Variables } from "./expand-variables.ts";
import { type ConfigCheck, parseConfig } from "./parse-config.ts";

const variables: Variables = { OPENAI_API_KEY: "sk-canary-0123456789", EMPTY: "", HOST: "api.example.com" };

test("parses YAML and JSON to the same frozen configuration", () => {
  const yaml = [
    "providers:",
    "  - id: main   # a comment",
    "    kind: openai",
    `    api_key: ${ref("OPENAI_API_KEY")}`,
    "models:",
    "  - { name: gpt-5, deployments: [{ provider: main }] }",
  ].join("\n");
  const json = JSON.stringify(
    {
      providers: [{ id: "main", kind: "openai", api_key: ref("OPENAI_API_KEY") }],
      models: [{ name: "gpt-5", deployments: [{ provider: "main" }] }],
    },
    null,
    "\t",
  );
  const config = parseConfig(yaml, "a.yaml", variables);
  expect(parseConfig(json, "a.json", variables)).toEqual(config);
  expect(config.providers?.[0]?.api_key).toBe("sk-canary-0123456789");
  expect(Object.isFrozen(config.providers?.[0])).toBe(true);
  expect(parseConfig("{}", "a.json", variables)).toEqual({});
});

test("reads JSON escapes and a byte order mark", () => {
  const text = String.raw`{"workspaces": [{"slug": "acme", "name": "\ud83d\ude00 \/ \u00e9"}]}`;
  expect(parseConfig(`\ufeff${text}`, "a.json", {}).workspaces?.[0]?.name).toBe("😀 / é");
});

test("refuses control characters, once for each text, and line breaks in names and tags only", () => {
  const file = {
    providers: [{ id: "main", kind: "openai", api_key: "sk-1\u0000", settings: { organization: "a\u001bb" } }],
    workspaces: [
      {
        slug: "acme",
        name: "Ac\u0000me",
        groups: [{ name: "default" }],
        keys: [{ name: "c\ni", secret: "sk-test-0123456789-0123456789", tags: { team: "a\tb" } }],
      },
    ],
  };
  let thrown: unknown = null;
  try {
    parseConfig(JSON.stringify(file, null, 2), "a.json", {});
  } catch (error) {
    thrown = error;
  }
  expect((thrown as ConfigInvalid).problems.map(({ path, message }) => `${path} ${message}`)).toEqual([
    "providers[0].api_key must not contain control characters",
    "providers[0].settings.organization must not contain control characters",
    "workspaces[0].name invalid format; expected no control characters",
    "workspaces[0].keys[0].name invalid format; expected no control characters",
    "workspaces[0].keys[0].tags.team invalid format; expected no control characters",
  ]);
});

test("resolves anchors, aliases and merge keys", () => {
  const config = parseConfig(
    [
      "providers:",
      "  - { id: a, kind: openai, timeouts: &slow { idle_ms: 1000, total_ms: 2000 } }",
      "  - { id: b, kind: openai, timeouts: *slow }",
      "  - { id: c, kind: openai, timeouts: { <<: *slow, idle_ms: 5 } }",
    ].join("\n"),
    "a.yaml",
    {},
  );
  expect(config.providers?.map((provider) => provider.timeouts)).toEqual([
    { idle_ms: 1000, total_ms: 2000 },
    { idle_ms: 1000, total_ms: 2000 },
    { idle_ms: 5, total_ms: 2000 },
  ]);
});

test("expands variables anywhere in a string, and $${ to a literal ${", () => {
  const text = `workspaces: [{ slug: acme, name: "x ${ref("HOST")}-${ref("HOST")} $${ref("HOST")} $1 ${ref("EMPTY")}." }]`;
  const name = parseConfig(text, "a.yaml", variables).workspaces?.[0]?.name;
  expect(name).toBe(`x api.example.com-api.example.com ${ref("HOST")} $1 .`);
});

test("does not expand ${…} in a variable's value", () => {
  const text = `workspaces: [{ slug: acme, name: "${ref("OUTER")}" }]`;
  const config = parseConfig(text, "a.yaml", { OUTER: ref("INNER"), INNER: "secret" });
  expect(config.workspaces?.[0]?.name).toBe(ref("INNER"));
});

test("keeps the structure of the file for any value of a variable", () => {
  const nasty = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.constantFrom(
      '"}]',
      "\n- id: evil",
      "}, { id: evil",
      "*a",
      "&a x",
      "!!int 3",
      "null",
      "true",
      "1e3",
      "__proto__",
      "$&",
      "$$",
      "\u0000",
    ),
  );
  fc.assert(
    fc.property(nasty, fc.constantFrom("plain", "double", "single", "block", "inside"), (value, style) => {
      const reference = ref("VALUE");
      const written = {
        plain: reference,
        double: `"${reference}"`,
        single: `'${reference}'`,
        block: `|-\n        ${reference}`,
        inside: `"a ${reference} b"`,
      }[style];
      const text = `providers:\n  - id: main\n    kind: openai\n    settings:\n      x: ${written}\n    enabled: true\n`;
      if (/[^\P{Cc}\t\n\r]/u.test(value)) {
        expect(() => parseConfig(text, "a.yaml", { VALUE: value })).toThrow("must not contain control characters");
        return;
      }
      const config = parseConfig(text, "a.yaml", { VALUE: value });
      const expected = style === "inside" ? `a ${value} b` : value;
      expect(config).toEqual({ providers: [{ id: "main", kind: "openai", settings: { x: expected }, enabled: true }] });
    }),
  );
});

const refused: readonly [string, string | readonly string[], readonly string[]][] = [
  ["an empty file", "  \n", ["c.yaml: the file is empty; write {} for a configuration without objects"]],
  ["only a comment", "# nothing\n", ["c.yaml:1:1: must be an object, not empty"]],
  ["a list", "- 1", ["c.yaml:1:1: must be an object, not a list"]],
  [
    "a typo in a field",
    ["providers:", "  - id: main", "    kind: openai", "    api_kye: sk-canary"],
    ["c.yaml:4:5: providers[0]: unknown field `api_kye`; did you mean `api_key`?"],
  ],
  ["a typo in a section", ["modles: []"], ["c.yaml:1:1: unknown field `modles`; did you mean `models`?"]],
  [
    "a foreign field",
    ["plugins: []"],
    [
      "c.yaml:1:1: unknown field `plugins`; allowed here: providers, models, workspaces, users, tokens, oidc, guardrails, budgets, settings",
    ],
  ],
  [
    "__proto__",
    ["__proto__: { a: 1 }"],
    [
      "c.yaml:1:1: unknown field `__proto__`; allowed here: providers, models, workspaces, users, tokens, oidc, guardrails, budgets, settings",
    ],
  ],
  [
    "a token with an invalid secret or role",
    [
      "tokens:",
      "  - { name: t, owner: a@example.com, administrator: true, secret: short }",
      "  - { name: u, owner: a@example.com, workspace: acme, role: king, secret_sha256: short }",
      "  - { name: v, owner: a@example.com }",
      "users: [{ email: a@example.com }]",
      "workspaces: [{ slug: acme }]",
    ],
    [
      "c.yaml:2:67: tokens[0].secret: invalid format; expected a secret from `sluice token secret`: sluice-admin- or sluice-scim-, and 49 letters and digits",
      "c.yaml:3:61: tokens[1].role: must be one of viewer, member, admin, owner",
      "c.yaml:3:82: tokens[1].secret_sha256: invalid format; expected the SHA-256 of a token's secret: 64 lower-case hexadecimal digits",
      "c.yaml:4:5: tokens[2]: set `administrator`, `scim`, or `workspace` and `role`",
      "c.yaml:4:5: tokens[2]: set either `secret` or `secret_sha256`",
    ],
  ],
  ["a missing field", ["models:", "  - name: gpt-5"], ["c.yaml:2:5: models[0].deployments: is missing"]],
  [
    "wrong types",
    [
      "models:",
      "  - name: 5",
      "    deployments: {}",
      "    price: { input: cheap }",
      "providers:",
      "  - { id: a, kind: [x], enabled: yes }",
    ],
    [
      "c.yaml:2:11: models[0].name: must be a string, not a number",
      "c.yaml:3:18: models[0].deployments: must be a list, not an object",
      "c.yaml:4:21: models[0].price.input: must be a number, not a string",
      "c.yaml:6:20: providers[0].kind: must be a string, not a list",
      "c.yaml:6:34: providers[0].enabled: must be true or false, not a string",
    ],
  ],
  [
    "a variable where a number belongs",
    ["workspaces: [{ slug: acme, limits: { rpm: 1.5, tpm: 0, concurrency: ${HOST} } }]"],
    [
      "c.yaml:1:43: workspaces[0].limits.rpm: must be an integer, not a fraction",
      "c.yaml:1:53: workspaces[0].limits.tpm: must be more than 0",
      "c.yaml:1:69: workspaces[0].limits.concurrency: must be a number, not a string (the value comes from ${HOST})",
    ],
  ],
  [
    "sizes",
    [
      "workspaces:",
      "  - slug: acme",
      "    budget: { usd: 10000000, period: month }",
      "    keys:",
      "      - { name: ci, secret: too-short-canary }",
    ],
    [
      "c.yaml:3:20: workspaces[0].budget.usd: must be at most 9000000",
      "c.yaml:5:29: workspaces[0].keys[0].secret: must have at least 24 characters",
    ],
  ],
  [
    "choices",
    ["settings: { ledger: { durability: disc } }", "workspaces: [{ slug: acme, budget: { usd: 1, period: ${HOST} } }]"],
    [
      "c.yaml:1:35: settings.ledger.durability: must be one of process, disk, strict, remote; did you mean `disk`?",
      "c.yaml:2:54: workspaces[0].budget.period: must be one of hour, day, week, month, total (the value comes from ${HOST})",
    ],
  ],
  [
    "forms",
    [
      "providers: [{ id: a b, kind: openai, base_url: nowhere }]",
      "workspaces: [{ slug: Acme, keys: [{ name: ci, expires_at: tomorrow }] }]",
    ],
    [
      "c.yaml:1:19: providers[0].id: invalid format; expected letters, digits, dot, dash, underscore; at most 63",
      "c.yaml:1:48: providers[0].base_url: must be a URL such as https://api.example.com/v1",
      "c.yaml:2:22: workspaces[0].slug: invalid format; expected lower-case letters, digits and dashes, at most 63",
      "c.yaml:2:59: workspaces[0].keys[0].expires_at: must be a time with a time zone, such as 2030-01-31T00:00:00Z",
    ],
  ],
  [
    "dates",
    [
      "providers: [{ id: main, kind: openai }]",
      "models:",
      "  - { name: a, deployments: [{ provider: main }], next_price: { from: 2027-01-01, price: { input: 1 } } }",
      "  - { name: b, deployments: [{ provider: main }], next_price: { from: soon, price: { input: 1 } } }",
    ],
    [
      "c.yaml:4:71: models[1].next_price.from: must be a date, or a time with a time zone, such as 2030-01-31 or 2030-01-31T00:00:00Z",
    ],
  ],
  [
    "an unset variable",
    ["providers:", "  - id: main", "    kind: openai", "    api_key: ${OPENAI_API_KYE}"],
    [
      "c.yaml:4:14: providers[0].api_key: the environment variable OPENAI_API_KYE is not set; did you mean `OPENAI_API_KEY`?",
    ],
  ],
  [
    "a name that every object has",
    ["workspaces: [{ slug: acme, name: '${constructor}' }]"],
    ["c.yaml:1:34: workspaces[0].name: the environment variable constructor is not set"],
  ],
  [
    "a broken placeholder",
    ["workspaces: [{ slug: acme, name: 'a ${HOST x} b ${' }]"],
    Array.from(
      { length: 2 },
      () =>
        "c.yaml:1:34: workspaces[0].name: `${` must be followed by a variable name and `}`; " +
        "write `$${` for a literal `${`",
    ),
  ],
  [
    "an empty variable",
    ["providers: [{ id: main, kind: openai, api_key: '${EMPTY}' }]"],
    ["c.yaml:1:48: providers[0].api_key: must have at least 1 character (the value comes from ${EMPTY})"],
  ],
  [
    "conflicts between objects",
    ["models:", "  - name: gpt-5", "    deployments:", "      - provider: nobody"],
    ['c.yaml:4:19: models[0].deployments[0].provider: there is no provider "nobody"'],
  ],
  [
    "a secret in the place of a name",
    ["models: [{ name: gpt-5, deployments: [{ provider: '${OPENAI_API_KEY}' }] }]"],
    [
      'c.yaml:1:51: models[0].deployments[0].provider: there is no provider "${OPENAI_API_KEY}" ' +
        "(the value comes from ${OPENAI_API_KEY})",
    ],
  ],
  [
    "a second document",
    ["models: []", "---", "models: []"],
    ["c.yaml:2:1: a config file must be one document; `---` starts a second one"],
  ],
  [
    "a doubled field",
    ["models: []", "models: []"],
    ["c.yaml:2:1: duplicate field: it is already set above in the same object"],
  ],
  [
    "a tag",
    ["models: !canary []"],
    ["c.yaml:1:9: tags (`!name`) are not supported; quote a string that starts with !"],
  ],
  [
    "an unknown alias",
    ["providers: [{ id: a, kind: openai, api_key: *canary }]"],
    ["c.yaml:1:45: this alias (`*name`) has no anchor (`&name`) above it; quote a string that starts with *"],
  ],
  [
    "an alias as a field",
    ["settings: { &a log_bodies: none, *a : none }"],
    ["c.yaml:1:34: a field name must be a string"],
  ],
  ["an open quote", ['models: "canary', ""], ["c.yaml:2:1: a comma, a colon, a bracket or a quote is missing here"]],
  ["a tab", ["models:", "\t- name: canary"], ["c.yaml:2:1: tabs are not allowed for indentation; use spaces"]],
  [
    "aliases that explode",
    [
      "x: &a [1,1,1,1,1,1,1,1,1,1]",
      "y: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]",
      "z: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]",
    ],
    [
      "c.yaml:1:1: aliases (`*name`) expand to too many nodes, or a merge (`<<`) refers to something that is not an object",
    ],
  ],
  [
    "a merge of a text",
    ["settings: { <<: canary }"],
    [
      "c.yaml:1:1: aliases (`*name`) expand to too many nodes, or a merge (`<<`) refers to something that is not an object",
    ],
  ],
  ["a million brackets", `models:\n  ${"[".repeat(1_000_000)}`, ["c.yaml:2:67: nested more than 64 levels deep"]],
  ["a million dashes", "- ".repeat(1_000_000), ["c.yaml:1:129: nested more than 64 levels deep"]],
];

test.each(refused)("refuses an invalid file with file, line, column, path and what to do: %s", (_, text, lines) => {
  const found = linesOf(typeof text === "string" ? text : text.join("\n"));
  expect(found).toEqual([...lines]);
  expect(found.join("\n")).not.toContain("canary");
});

test("locates the conflicts of additional checks", () => {
  const noSuchKind: ConfigCheck = (config) =>
    (config.providers ?? []).map((_, index) => ({ path: ["providers", index, "kind"], message: "no such kind" }));
  const text = "providers:\n  - id: a\n    kind: opnai\n";
  expect(linesOf(text, [noSuchKind])).toEqual(["c.yaml:3:11: providers[0].kind: no such kind"]);
});

test("lists the first hundred problems and counts the rest", () => {
  const lines = linesOf(Array.from({ length: 250 }, (_, index) => `x${index}: 1`).join("\n"));
  expect(lines).toHaveLength(101);
  expect(lines[0]).toBe(
    "c.yaml:1:1: unknown field `x0`; allowed here: providers, models, workspaces, users, tokens, oidc, guardrails, budgets, settings",
  );
  expect(lines[100]).toBe("c.yaml: 150 more problems");
});

test("summarizes the first problem and the number of others in one line", () => {
  expect(() => parseConfig("a: 1\nb: 2", "c.yaml", {})).toThrow(
    "c.yaml:1:1: unknown field `a`; allowed here: providers, models, workspaces, users, tokens, oidc, guardrails, budgets, settings (and 1 more problem)",
  );
});

test("throws only ConfigInvalid, for any text", () => {
  const token = fc.constantFrom(
    "a",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "\n",
    "  ",
    '"',
    "'",
    "|",
    ">",
    "&x ",
    "*x",
    "<<: ",
    "? ",
    "#",
    "!t ",
    "%Y",
    "---",
    "${",
    "\t",
    "models",
    "1",
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
      for (const line of linesOf(tokens.join(""))) expect(line).toStartWith("c.yaml");
    }),
    { numRuns: 500 },
  );
});

function ref(name: string): string {
  return `\${${name}}`;
}

function linesOf(text: string, checks: readonly ConfigCheck[] = []): readonly string[] {
  try {
    parseConfig(text, "c.yaml", variables, checks);
  } catch (thrown) {
    if (thrown instanceof ConfigInvalid) return thrown.lines;
    throw thrown;
  }
  return [];
}

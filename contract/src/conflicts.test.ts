import { describe, expect, test } from "bun:test";
import { type ConfigFile, configSchema } from "./config.ts";
import { conflictsOf, pathText } from "./conflicts.ts";

const provider = { id: "p", kind: "openai" };
const secret = "a-secret-of-more-than-24-characters";

const found = (config: ConfigFile) =>
  conflictsOf(configSchema.parse(config)).map((conflict) => pathText(conflict.path));

describe("conflicts of a configuration", () => {
  test("a file that agrees with itself has none", () => {
    expect(
      found({
        providers: [provider, { id: "q", kind: "openai", base_url: "https://x.example/v1" }],
        models: [
          { name: "m", deployments: [{ provider: "p" }, { provider: "p", upstream_model: "other" }], fallbacks: ["n"] },
          { name: "n", deployments: [{ provider: "q" }], fallbacks: ["m"] },
        ],
        workspaces: [
          { slug: "a", keys: [{ name: "k", secret }, { name: "l" }] },
          { slug: "b", groups: [{ name: "g" }], keys: [{ name: "k", group: "g" }] },
        ],
      }),
    ).toEqual([]);
    expect(found({})).toEqual([]);
  });

  const cases: [string, ConfigFile, string[]][] = [
    [
      "providers granted that are not there",
      {
        providers: [provider],
        workspaces: [
          {
            slug: "a",
            pass_through: ["p", "q"],
            groups: [{ name: "default", pass_through: ["r"] }],
            keys: [{ name: "k", pass_through: ["p", "s"] }],
          },
        ],
      },
      [
        "workspaces[0].pass_through[1]",
        "workspaces[0].groups[0].pass_through[0]",
        "workspaces[0].keys[0].pass_through[1]",
      ],
    ],
    ["providers granted by a file that has none", { workspaces: [{ slug: "a", pass_through: ["p"] }] }, []],
    ["a provider declared twice", { providers: [provider, provider] }, ["providers[1].id"]],
    [
      "a credential in an address",
      { providers: [{ ...provider, base_url: "https://user:word@x.example" }] },
      ["providers[0].base_url"],
    ],
    [
      "a model declared twice",
      {
        providers: [provider],
        models: [
          { name: "m", deployments: [{ provider: "p" }] },
          { name: "m", deployments: [{ provider: "p" }] },
        ],
      },
      ["models[1].name"],
    ],
    [
      "a deployment on an unknown provider",
      { providers: [provider], models: [{ name: "m", deployments: [{ provider: "p" }, { provider: "q" }] }] },
      ["models[0].deployments[1].provider"],
    ],
    [
      "the same deployment twice, once by default and once by name",
      {
        providers: [provider],
        models: [{ name: "m", deployments: [{ provider: "p" }, { provider: "p", upstream_model: "m" }] }],
      },
      ["models[0].deployments[1]"],
    ],
    [
      "fallbacks to itself, to nothing, and twice to one",
      {
        providers: [provider],
        models: [
          { name: "m", deployments: [{ provider: "p" }], fallbacks: ["m", "x", "n", "n"] },
          { name: "n", deployments: [{ provider: "p" }] },
        ],
      },
      ["models[0].fallbacks[0]", "models[0].fallbacks[1]", "models[0].fallbacks[3]"],
    ],
    [
      "a price for one unit that no longer fits whole pico-USD",
      { providers: [provider], models: [{ name: "m", deployments: [{ provider: "p" }], price: { video: 9_001 } }] },
      ["models[0].price.video"],
    ],
    ["a workspace declared twice", { workspaces: [{ slug: "a" }, { slug: "a" }] }, ["workspaces[1].slug"]],
    [
      "a group and a key declared twice",
      {
        workspaces: [
          { slug: "a", groups: [{ name: "default" }, { name: "default" }], keys: [{ name: "k" }, { name: "k" }] },
        ],
      },
      ["workspaces[0].groups[1].name", "workspaces[0].keys[1].name"],
    ],
    [
      "keys in a group that is not there, by name and by default",
      { workspaces: [{ slug: "a", groups: [{ name: "g" }], keys: [{ name: "k", group: "h" }, { name: "l" }] }] },
      ["workspaces[0].keys[0].group", "workspaces[0].keys[1].group"],
    ],
    [
      "one secret for two keys, in different workspaces too",
      {
        workspaces: [
          { slug: "a", keys: [{ name: "k", secret }] },
          { slug: "b", keys: [{ name: "k", secret }] },
        ],
      },
      ["workspaces[1].keys[0].secret"],
    ],
  ];
  test.each(cases)("names %s", (_what, config, paths) => {
    expect(found(config)).toEqual(paths);
  });

  test("no message holds a secret", () => {
    const config: ConfigFile = {
      providers: [{ ...provider, base_url: "https://user:canary-word@x.example" }],
      workspaces: [
        {
          slug: "a",
          keys: [
            { name: "k", secret },
            { name: "l", secret },
          ],
        },
      ],
    };
    const text = JSON.stringify(conflictsOf(config));
    expect(text).not.toContain(secret);
    expect(text).not.toContain("canary-word");
  });
});

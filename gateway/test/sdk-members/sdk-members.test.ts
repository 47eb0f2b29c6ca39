import { beforeAll, describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import { endpointProtocols } from "#protocols/index.ts";
import { callerHeaders } from "#providers/index.ts";
import { providerOf } from "../provider-fixture.ts";
import { pathOf } from "../translation/fields/samples.ts";
import { readTypes, type Shape } from "../translation/fields/vendor-types.ts";
import { anthropic, type Classes, google, interactions, manifold, openai } from "./classes.ts";
import { bodyWith, bodyWithout, membersOf, type Occurrence, textsIn } from "./members.ts";
import { requestTypes, toolTypes } from "./request-types.ts";

/**
 * Classifies every member of a request in the official SDKs by its effect. A release with a new member fails here until
 * the gateway's handling of it is decided.
 */
const vendors: Readonly<Record<string, Classes>> = { openai, anthropic, google, interactions };

type Endpoint = keyof typeof endpointProtocols;

const message = [{ role: "user", content: "hi" }];
const input = { model: "m", input: "hi" };
/**
 * The endpoints with JSON bodies, and the smallest request of each. Forms refuse members that select something and have
 * no member for stored objects.
 */
const endpoints: Readonly<Record<string, readonly [Endpoint, Readonly<Record<string, unknown>>]>> = {
  openai_chat: ["chat", { model: "m", messages: message }],
  openai_completions: ["completions", { model: "m", prompt: "hi" }],
  openai_responses: ["responses", input],
  openai_beta_responses: ["responses", input],
  openai_input_tokens: ["input-tokens", input],
  openai_compact: ["responses-compact", input],
  openai_embeddings: ["embeddings", input],
  openai_images: ["images", { model: "m", prompt: "hi" }],
  openai_image_edits: ["image-edits", { model: "m", prompt: "hi" }],
  openai_speech: ["speech", { ...input, voice: "alloy" }],
  openai_moderations: ["moderations", input],
  openai_decisions: ["decisions", { ...input, questions: [{ type: "predicate", instructions: "yes" }] }],
  anthropic_messages: ["messages", { model: "m", max_tokens: 9, messages: message }],
  anthropic_count_tokens: ["count-tokens", { model: "m", messages: message }],
  anthropic_beta_messages: ["messages", { model: "m", max_tokens: 9, messages: message }],
  anthropic_beta_count_tokens: ["count-tokens", { model: "m", messages: message }],
  google_generate: ["generate", { contents: [{ role: "user", parts: [{ text: "hi" }] }] }],
  interactions_model: ["interactions", input],
  interactions_agent: ["interactions", { agent: "m", input: "hi" }],
  google_embed: ["embed-content", { content: { parts: [{ text: "hi" }] } }],
};

let types: ReadonlyMap<string, Shape>;
let members: readonly Occurrence[];
beforeAll(async () => {
  types = await readTypes(requestTypes);
  members = [...types].flatMap(([root, shape]) => membersOf(root, shape));
});

describe("every member of a request", () => {
  test("is in one class", () => {
    const wrong = members.flatMap((one) => {
      const classes = classesOf(one);
      return classes.length === 1 ? [] : [`${keyOf(one)} (${one.root}, ${pathOf(one.steps)}): ${classes.join(", ")}`];
    });
    expect([...new Set(wrong)]).toEqual([]);
  });

  test("is removed from the classes when no SDK has it any more", () => {
    const seen = new Set(members.flatMap((one) => [`${vendorOf(one)} ${keyOf(one)}`]));
    const missing = Object.entries(vendors).flatMap(([vendor, classes]) =>
      Object.values(classes)
        .flatMap((names) => namesIn(names))
        .filter((name) => !seen.has(`${vendor} ${name}`))
        .map((name) => `${vendor} ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test("is found by the reader of its endpoint if it selects, pays or names a stored object", () => {
    const missed = members.flatMap((one) => {
      const [which] = classesOf(one);
      if (which !== "chooses" && which !== "payer" && which !== "state") return [];
      const endpoint = endpoints[one.root];
      if (
        endpoint === undefined ||
        unchecked.has(`${one.owner}.${one.member.name}`) ||
        isOrigin(one) ||
        isFound(one, endpoint)
      )
        return [];
      return [`${one.root}: ${pathOf(one.steps)}`];
    });
    expect(missed).toEqual([]);
  });
});

describe("a member with a cost", () => {
  test("has a hold from the reader of an endpoint", () => {
    const costs = members.filter((one) => classesOf(one)[0] === "cost" && endpoints[one.root] !== undefined);
    const withHold = new Set(costs.filter(isHeld).map(vendorKey));
    expect([...new Set(costs.map(vendorKey))].filter((key) => !withHold.has(key))).toEqual([]);
  });

  test("is named in the documentation if its cost is not bounded", async () => {
    const text = await Bun.file(resolve(import.meta.dir, "../../../docs/limits.md")).text();
    const list = text.slice(text.indexOf("**Not bounded:**")).split("\n\n", 1)[0] ?? "";
    const names = Object.values(vendors).flatMap(({ unbounded }) => namesIn(unbounded));
    expect(names.filter((name) => !list.includes(`\`${name}\``))).toEqual([]);
  });

  test("has a hold in the table if it is a tool that the vendor runs", async () => {
    const tools = await readTypes(toolTypes);
    const google = tools.get("google");
    const googleTools =
      google?.kind === "object" ? google.members.map(({ name }) => ["generate", { [name]: {} }] as const) : [];
    const typedTools = (["responses", "chat", "messages", "interactions"] as const).flatMap((endpoint) =>
      typesOf(tools.get(endpoint)).map((type) => [endpoint, { type }] as const),
    );
    expect(googleTools.length).toBeGreaterThan(9);
    expect(typedTools.length).toBeGreaterThan(45);
    const withoutHold = [...googleTools, ...typedTools].flatMap(([endpoint, tool]) => {
      const [, base] = endpoints[toolEndpoints[endpoint]] ?? [];
      const bytes = new TextEncoder().encode(JSON.stringify({ ...base, tools: [tool] }));
      const { hostedInput } = endpointProtocols[endpoint].wire.readRequest(bytes, { model: "m", stream: false });
      const name = String("type" in tool ? tool.type : Object.keys(tool)[0]);
      return hostedInput === undefined && !callerTools.test(name) ? [name] : [];
    });
    // The documentation lists the advisor's input as not bounded.
    expect([...new Set(withoutHold)]).toEqual(["advisor_20260301"]);
  });
});

describe("every header that the SDKs define", () => {
  const folder = resolve(import.meta.dir, "../../../node_modules");
  const files = [
    "openai/*.js",
    "openai/resources/**/*.js",
    "@anthropic-ai/sdk/*.js",
    "@anthropic-ai/sdk/resources/**/*.js",
  ]
    .concat("@google/genai/dist/node/index.mjs")
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: folder, followSymlinks: true })]);

  test("is deliberately sent to the vendor or removed", async () => {
    const names = new Set<string>();
    for (const file of files) {
      const text = await Bun.file(resolve(folder, file)).text();
      for (const [, name = ""] of text.matchAll(/["'`]((?:openai|anthropic|x-goog)-[a-z-]+)["'`]/gi)) {
        names.add(name.toLowerCase());
      }
    }
    const lists = ["anthropic", "openai", "gemini"].map((kind) => callerHeaders(providerOf(kind)));
    const isSent = (name: string) => lists.some((list) => list.accepts(name));
    expect([...names].filter(isSent).sort()).toEqual([
      "anthropic-beta",
      "anthropic-dangerous-direct-browser-access",
      "anthropic-version",
      "anthropic-worker-id",
      "openai-beta",
      "x-goog-api-client",
      "x-goog-upload-command",
      "x-goog-upload-file-name",
      "x-goog-upload-header-content-length",
      "x-goog-upload-header-content-type",
      "x-goog-upload-offset",
      "x-goog-upload-protocol",
      "x-goog-upload-status",
      "x-goog-upload-url",
    ]);
    const payers = ["anthropic-user-profile-id", "anthropic-workspace-id", "openai-organization", "openai-project"];
    for (const payer of [...payers, "x-goog-user-project"]) expect(names).toContain(payer);
  });
});

describe("the search", () => {
  test("reads the types of all three SDKs, deep into them", () => {
    const paths = new Set(members.map((one) => `${one.root}: ${one.owner}.${one.member.name}`));
    for (const path of [
      "openai_chat: Audio.id",
      "openai_responses: Reasoning.mode",
      "openai_responses: PromptCacheOptions.comparison_response_id",
      "openai_responses: ImageGeneration.model",
      "openai_beta_responses: MultiAgent.enabled",
      "anthropic_beta_messages: BetaBillingPolicy.bill_to",
      "anthropic_beta_messages: BetaAdvisorTool20260301.model",
      "anthropic_beta_messages: BetaThreadContinueParams.previous_message_id",
      "google_generate: FileData.fileUri",
      "google_generate: GenerationConfigRoutingConfigManualRoutingMode.modelName",
    ]) {
      expect(paths).toContain(path);
    }
    const perVendor = Object.keys(vendors).map((vendor) => members.filter((one) => vendorOf(one) === vendor).length);
    for (const count of perVendor) expect(count).toBeGreaterThan(300);
  });

  test("reports a member that is not classified", () => {
    const unclassified: Shape = {
      kind: "object",
      name: "Strange",
      members: [{ name: "ledger_id", optional: true, of: { kind: "string" } }],
    };
    expect(membersOf("openai_chat", unclassified).map(classesOf)).toEqual([[]]);
  });
});

/**
 * Members that are not checked (decision: objects of workspaces). Item ids are random and appear only in answers of the
 * workspace. For the message that diagnostics compare with, the vendor reports only where the prompts differ.
 */
const unchecked: ReadonlySet<string> = new Set([
  "ItemReference.id",
  "FindRequest.finding_id",
  "FixRequest.finding_id",
  // Where the caller's own browser runs.
  "ComputerUse_2.environment",
  "DiagnosticsParam.previous_message_id",
  "BetaDiagnosticsParam.previous_message_id",
]);

/** Parts of earlier answers that give the source of something. They do not name an object to read. */
function isOrigin({ owner }: Occurrence): boolean {
  return /Citation|OutputBlock|CodeInterpreterToolCall$|^FilePath$|^Result$/.test(owner);
}

function isFound(one: Occurrence, [endpoint, base]: readonly [Endpoint, Readonly<Record<string, unknown>>]): boolean {
  const { body, value } = bodyWith(one, base);
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const facts = endpointProtocols[endpoint].wire.readRequest(bytes, { model: "m", stream: false });
  const top = pathOf(one.steps).replace(/^<[^>]*>\.?/, "");
  const plain = top.replace(/<[^>]*>/g, "");
  const governs = (facts.governed ?? []).some(
    (path) => top === path || plain === path || (top.startsWith(path) && /^[.[<]/.test(top.slice(path.length))),
  );
  const names = [
    ...(facts.objects ?? []).map(({ id }) => id),
    ...(facts.namedModels ?? []).map(({ model }) => model),
    ...(facts.continues === null ? [] : [facts.continues.id]),
  ];
  return governs || textsIn(value).some((text) => names.includes(text));
}

/** Whether the reader finds a different hold with the member than without it. */
function isHeld(one: Occurrence): boolean {
  const endpoint = endpoints[one.root];
  if (endpoint === undefined) return false;
  return holdOf(endpoint[0], bodyWith(one, endpoint[1]).body) !== holdOf(endpoint[0], bodyWithout(one, endpoint[1]));
}

function holdOf(endpoint: Endpoint, body: object): string {
  try {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const facts = endpointProtocols[endpoint].wire.readRequest(bytes, { model: "m", stream: false });
    const {
      outputTokensMax,
      choices,
      serverTools,
      hostedInput,
      requestsSearch,
      images,
      estimatedUse,
      background,
      governed,
    } = facts;
    const { continues, objects } = facts;
    return JSON.stringify([
      ...[
        outputTokensMax,
        choices,
        serverTools,
        hostedInput,
        requestsSearch,
        images,
        estimatedUse,
        background,
        governed,
      ],
      ...[continues, objects],
    ]);
  } catch {
    return "refused";
  }
}

/** Tools that the caller or the model runs. They add nothing that the hold of the next request does not cover. */
const callerTools =
  /^(?:function|functionDeclarations|custom|namespace|tool_search|apply_patch|local_shell|computer|computerUse|bash|text_editor|memory|browser_toolset)/;

const toolEndpoints = {
  interactions: "interactions_model",
  generate: "google_generate",
  responses: "openai_responses",
  chat: "openai_chat",
  messages: "anthropic_beta_messages",
} as const;

/** The values of `type` in the alternatives of a union of tools. */
function typesOf(shape: Shape | undefined): readonly string[] {
  const tools = shape?.kind === "union" ? shape.of : [];
  return tools.flatMap((tool) => {
    const type = tool.kind === "object" ? tool.members.find(({ name }) => name === "type")?.of : undefined;
    const all = type?.kind === "union" ? type.of : [type];
    return all.flatMap((one) => (one?.kind === "scalar" ? one.values.map(String) : []));
  });
}

function vendorKey(one: Occurrence): string {
  return `${vendorOf(one)} ${keyOf(one)}`;
}

function classesOf(one: Occurrence): readonly string[] {
  const classes = Object.entries(vendors[vendorOf(one)] ?? {});
  return classes.filter(([, names]) => namesIn(names).includes(keyOf(one))).map(([which]) => which);
}

/** The name of a member in the classes. */
function keyOf({ owner, member }: Occurrence): string {
  return manifold.has(member.name) ? `${owner}.${member.name}` : member.name;
}

function vendorOf({ root }: Occurrence): string {
  return root.split("_", 1)[0] ?? "";
}

const split = new Map<string, readonly string[]>();

function namesIn(names: string): readonly string[] {
  let list = split.get(names);
  if (list === undefined) {
    list = names.split(/\s+/).filter((name) => name !== "");
    split.set(names, list);
  }
  return list;
}

import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import { password, Refused, type SignedInUser, signInAs } from "../signed-in-user.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import { hostileLines, hostileNames, hostileStrings } from "./strings.ts";

const email = "ada@example.com";

export interface HostileGateway {
  readonly gateway: StartedGateway;
  readonly simulator: RunningSimulator;
  readonly ada: SignedInUser;
  readonly keys: readonly string[];
  readonly requests: readonly string[];
  readonly tasks: readonly string[];
  readonly models: readonly string[];
  stop(): Promise<void>;
}

/** A gateway with hostile strings in every text that users or upstreams choose: names, tags, prompts, responses, errors, headers. */
export async function startHostileGateway(): Promise<HostileGateway> {
  const simulator = serveSimulator({ models: hostileNames });
  const gateway = await startGateway({ administrator: { email, password }, config: configFile(simulator.url) });
  const stop = async () => {
    await gateway.stop();
    simulator.stop();
  };
  try {
    const ada = await signInAs(gateway.url, email);
    const { models, refused } = await addNames(ada, simulator.url);
    if (refused > hostileNames.length / 2) throw new Error("Most of the hostile names were refused: nothing is tried.");
    const keys = await addKeys(ada);
    const made = await call(gateway.url, ada, simulator, models);
    return { gateway, simulator, ada, keys, models, ...made, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

async function addNames({ call }: SignedInUser, upstream: string): Promise<{ models: string[]; refused: number }> {
  await call("workspaces.create", { body: { slug: "acme", name: hostileStrings[5] ?? "" } });
  const workspace = "acme";
  const account = { kind: "openai-compatible", allow_private_network: true, api_key: hostileStrings[1] ?? "" };
  const base_url = `${upstream.replace("/v1", "")}/%22%3E%3Cimg%20src=x%20onerror=hit()%3E/v1`;
  await call("providers.create", { body: { ...account, id: "main", base_url } });
  const models: string[] = [];
  let refused = 0;
  for (const name of hostileNames) {
    const price = { input: 1, output: 2 };
    const body = {
      name,
      owned_by: hostileStrings[2] ?? "",
      deployments: [{ provider: "main", upstream_model: name }],
      price,
    };
    await call("models.create", { body }).then(
      () => models.push(name),
      (thrown: unknown) => {
        if (!(thrown instanceof Refused)) throw thrown;
        refused += 1;
      },
    );
  }
  await call("groups.create", { params: { workspace }, body: { name: "tier", models: [...hostileNames] } });
  await call("tokens.create", { body: { name: hostileStrings[0] ?? "", workspace, role: "viewer" } });
  for (const name of hostileStrings.slice(0, 8)) {
    const target = {
      kind: "webhook" as const,
      url: `https://hooks.invalid/${encodeURIComponent(name)}?x=<script>hit()</script>`,
    };
    const channel = { name, language: "en", enabled: true, target } as const;
    const { id } = await call("alertChannels.create", { params: { workspace }, body: channel });
    const condition = { kind: "budget" as const, percent: [50], scope: null, scope_id: null };
    const rule = { quiet_hours: null, repeat_hours: null, send_resolved: true, enabled: true, muted_until: null };
    await call("alertRules.create", { params: { workspace }, body: { ...rule, name, condition, channels: [id] } });
  }
  await call("invitations.create", {
    params: { workspace },
    body: { email: "o'<b>hit@example.com".replace(/[<>]/g, ""), role: "member" },
  });
  return { models, refused };
}

async function addKeys({ call }: SignedInUser): Promise<string[]> {
  const keys: string[] = [];
  for (const name of hostileLines) {
    const tags = { [name.slice(0, 128)]: name.slice(0, 128) };
    const body = { name, tags, models: ["*"], capture: "bodies" as const };
    const made = await call("keys.create", { params: { workspace: "acme" }, body });
    keys.push(made.key.id);
  }
  return keys;
}

/** Sends one request for each string, alternately successful and failing. Responses contain hostile strings as well. */
async function call(
  url: string,
  { call: admin }: SignedInUser,
  { simulator }: RunningSimulator,
  models: readonly string[],
): Promise<{ requests: string[]; tasks: string[] }> {
  const params = { workspace: "acme" };
  const { secret } = await admin("keys.create", { params, body: { name: "<b>caller</b>", capture: "bodies" } });
  const requests: string[] = [];
  const tasks: string[] = [];
  for (const [index, text] of hostileStrings.entries()) {
    const model = models[index % models.length] ?? "";
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${secret}`,
      "user-agent": printable(text),
      "x-note": printable(text),
    };
    const post = (path: string, body: unknown) =>
      fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    simulator.addPreset({
      model,
      count: 1,
      script:
        index % 2 === 0
          ? { body: answer(model, text), headers: { "x-note": printable(text) } }
          : { status: 400, error_message: text, error_code: text.slice(0, 60), headers: { "x-note": printable(text) } },
    });
    const chat = await post("/v1/chat/completions", { model, messages: [{ role: "user", content: text }], user: text });
    await chat.arrayBuffer();
    requests.push(chat.headers.get("x-request-id") ?? "");
    simulator.clearPresets();
    if (index % 6 === 0) {
      const task = await post("/v1/video/tasks", { model: "films", prompt: text, ratio: "16:9", duration: 5 });
      if (task.ok) tasks.push(((await task.json()) as { id: string }).id);
    }
  }
  const group = await fetch(`${url}/v1/asset-groups`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify({ platform: "local", name: hostileStrings[0], description: hostileStrings[5] }),
  });
  const { id } = (await group.json()) as { id: string };
  for (const name of hostileStrings.slice(0, 10)) {
    await fetch(`${url}/v1/assets`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify({
        platform: "local",
        group_id: id,
        url: `https://pictures.invalid/?${encodeURIComponent(name)}`,
        asset_type: "Image",
        name: name.slice(0, 64),
      }),
    });
  }
  return { requests, tasks };
}

function answer(model: string, content: string): string {
  return JSON.stringify({
    id: content.slice(0, 100),
    object: "chat.completion",
    created: 1,
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: content.slice(0, 40) }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, [content.slice(0, 60)]: 1 },
  });
}

/** The characters that a header allows. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

function configFile(upstream: string): string {
  const text = JSON.stringify;
  return `
# ${"<script>hit()</script>"}
providers:
  - { id: films, kind: ark, base_url: ${text(upstream.replace("/v1", "/api/v3"))}, api_key: any, allow_private_network: true }
models:
  - { name: films, type: video, owned_by: ${text(hostileStrings[0])}, deployments: [{ provider: films, upstream_model: doubao-seedance-2-0-260128 }] }
workspaces:
  - slug: from-file
    name: ${text(hostileStrings[1])}
    groups: [{ name: default, models: [${text(hostileStrings[7])}] }]
    keys: [{ name: ${text(hostileStrings[5])}, tags: { ${text(hostileStrings[0])}: ${text(hostileStrings[1])} } }]
`;
}

import type { Remark, TestAnswer } from "@sluice/contract";
import type { ConfigSnapshot, ModelType, Provider } from "#core/index.ts";
import type { ProviderProbe } from "#provider-client/index.ts";
import { type ProviderKind, suggestedModel, type UpstreamModelListed } from "#providers/index.ts";

type Trial = NonNullable<Awaited<ReturnType<ProviderProbe["ask"]>>>;
type ListTrial = NonNullable<Awaited<ReturnType<ProviderProbe["listModels"]>>>;

interface Subject {
  readonly provider: Provider;
  readonly kind: ProviderKind;
  readonly configSnapshot: ConfigSnapshot;
  /** Upstream name of the model to call; null: any. */
  readonly model: string | null;
}

/**
 * Lists the account's models, then sends one of them a minimal call. Images and videos are too expensive for that: only access to the
 * account and the model are checked. The last step decides.
 */
export async function testProvider(probe: ProviderProbe, subject: Subject, signal: AbortSignal): Promise<TestAnswer> {
  const { provider, kind } = subject;
  const steps: TestAnswer["steps"] = [];
  const listing = await probe.listModels(provider, kind, signal);
  if (listing !== null) {
    steps.push(stepOf("list models", { code: "list_models", params: {} }, listing));
    // The other steps would fail in the same way.
    if (listing.status === 0 || listing.status === 401 || listing.status === 403) return { ok: false, steps };
  }
  const model = modelToTest(subject, listing?.models ?? null);
  if (model === null) {
    if (listing === null) steps.push(noModelToTest);
    return { ok: steps.at(-1)?.ok === true, steps };
  }
  steps.push(await askStep(probe, subject, { model, listing, signal }));
  return { ok: steps.at(-1)?.ok === true, steps };
}

interface ModelChoice {
  readonly upstreamModel: string;
  readonly type: ModelType;
}

async function askStep(
  probe: ProviderProbe,
  { provider, kind }: Subject,
  {
    model,
    listing,
    signal,
  }: { readonly model: ModelChoice; readonly listing: ListTrial | null; readonly signal: AbortSignal },
): Promise<TestAnswer["steps"][number]> {
  const { upstreamModel, type } = model;
  const answer = await probe.ask(provider, kind, model, signal);
  // Voices differ by vendor: an unknown voice still proves access, and the list covers the rest.
  const otherVoice = type === "speech" && (answer?.status === 400 || answer?.status === 422) && listing?.models != null;
  const tried = { code: "ask_model", params: { type, model: upstreamModel } } as const;
  if (answer !== null && !otherVoice) return stepOf(`${verbs[type] ?? "call"} with ${upstreamModel}`, tried, answer);
  const task = type === "video" ? await probe.askForTask(provider, kind, upstreamModel, signal) : null;
  if (task !== null) return stepOf("look for a video task", { code: "look_for_video_task", params: {} }, task);
  if (listing === null || listing.models === null) return noModelToTest;
  const there = listing.models.some((each) => each.id === upstreamModel);
  return {
    name: `find ${upstreamModel} in the list`,
    tried: { code: "find_in_list", params: { model: upstreamModel } },
    ok: there,
    status: listing.status,
    ms: 0,
    problem: there ? null : `The account's list has no model ${upstreamModel}.`,
    fault: there ? null : { code: "model_not_listed", params: { model: upstreamModel } },
    upstream_message: null,
    advice: there ? null : "Check the model's spelling, and that the account may use it.",
    remedy: there ? null : { code: "check_model_name", params: {} },
  };
}

/** Other types are called. */
const verbs: Readonly<Partial<Record<ModelType, string>>> = {
  chat: "chat",
  completion: "complete",
  embedding: "embed",
  rerank: "rerank",
  moderation: "moderate",
  transcription: "transcribe",
  speech: "speak",
  image: "draw",
  video: "film",
};

const noModelToTest: TestAnswer["steps"][number] = {
  name: "choose a model",
  tried: { code: "choose_model", params: {} },
  ok: false,
  status: 0,
  ms: 0,
  problem: "Nothing was called: this provider has no known model that is cheap to test.",
  fault: { code: "nothing_to_ask", params: {} },
  upstream_message: null,
  advice: "Choose one of its models.",
  remedy: { code: "name_a_model", params: {} },
};

function stepOf(name: string, tried: Remark<"test">, trial: Trial): TestAnswer["steps"][number] {
  const { status, ms, problem, fault, upstreamMessage, advice, remedy } = trial;
  return {
    name,
    tried,
    ok: problem === null,
    status,
    ms: Math.round(ms),
    problem,
    fault,
    upstream_message: upstreamMessage,
    advice,
    remedy,
  };
}

function isCheapToTest(type: ModelType): boolean {
  return type !== "image" && type !== "video";
}

/** The named model, else a deployed one (chat models first), else one of the provider type's starter models, else a listed one. */
function modelToTest(
  { provider, kind, configSnapshot, model }: Subject,
  listed: readonly UpstreamModelListed[] | null,
): ModelChoice | null {
  const deployed = [...configSnapshot.models.values()].flatMap((each) =>
    each.deployments
      .filter((deployment) => deployment.provider.id === provider.id)
      .map(({ upstreamModel }): ModelChoice => ({ upstreamModel, type: each.type })),
  );
  const suggested = (id: string): ModelChoice => {
    const type = listed?.find((each) => each.id === id)?.type ?? null;
    return { upstreamModel: id, type: suggestedModel(kind, { id, type }).type };
  };
  if (model !== null) return deployed.find((each) => each.upstreamModel === model) ?? suggested(model);
  const first = deployed.find((each) => each.type === "chat") ?? deployed[0];
  if (first !== undefined) return first;
  const starter = kind.starterModels.find(({ name }) => listed === null || listed.some((each) => each.id === name));
  if (starter !== undefined) return { upstreamModel: starter.name, type: starter.type ?? "chat" };
  const some = (listed ?? []).map(({ id }) => suggested(id));
  const found = some.find((each) => each.type === "chat") ?? some.find((each) => isCheapToTest(each.type)) ?? null;
  if (found !== null) return found;
  // A provider type with only video models is tested for video.
  return kind.lanes.length === 0 && kind.video !== undefined ? { upstreamModel: "-", type: "video" } : null;
}

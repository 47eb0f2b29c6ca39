import { modelEndpoints } from "@sluice/contract/words";
import {
  type ConfigSnapshot,
  costOf,
  type EndpointId,
  Failure,
  type Model,
  noUsage,
  type PriceVersion,
  type Provider,
  passedModel,
  pricePerCall,
  type UpstreamObject,
  usualFactors,
  type WireDialectId,
} from "#core/index.ts";
import type { Money } from "#limits/index.ts";
import type { OutboundMethod, Spooled } from "#ports/index.ts";
import {
  anthropicMessages,
  type CallEndpointId,
  type Dialect,
  type EndpointProtocol,
  endpointProtocols,
  gemini,
  openaiChat,
  type PathFacts,
  type RequestFacts,
  tierMembers,
} from "#protocols/index.ts";
import {
  governingFor,
  type PassThroughTarget,
  type ProviderKind,
  passThroughOf,
  passThroughTarget,
  providerKind,
} from "#providers/index.ts";
import { CallEstimate, type EstimateDependencies } from "../attempt/hold.ts";
import { type SoldModel, soldAt } from "../attempt/priced-usage.ts";
import type { Call, RelayDependencies } from "../call.ts";
import type { ObjectEndpoint } from "../vendor-objects/object-endpoints.ts";

export interface PassThroughRoute {
  readonly provider: Provider;
  readonly kind: ProviderKind;
  readonly target: PassThroughTarget;
  readonly protocol: EndpointProtocol;
  /** null: the path names no model. */
  readonly path: PathFacts | null;
  /** A JSON body of it can be read. */
  readonly isRead: boolean;
  /** Calls of several workspaces reach the account. */
  readonly isShared: boolean;
  /** The provider's signature covers the body, so it has to be held. */
  readonly isSigned: boolean;
  /** Set for a call under `/v1` for an object that the vendor stores. `object` null: the path names none, or none with a record. */
  readonly owned?: OwnedRoute;
}

interface OwnedRoute {
  readonly endpoint: ObjectEndpoint;
  readonly object: UpstreamObject | null;
  /** The name of the workspace's file in the path, with the name of the account's copy that replaces it. */
  readonly fileNames: ReadonlyMap<string, string>;
  /** The vendor's own object, which every account may read. */
  readonly isPublic: boolean;
}

/**
 * `path`: as the caller wrote it, from its slash on; `query`: without `?`, may be empty. Throws Failure not_found,
 * no_deployment_available, invalid_request or forbidden.
 */
export function passThroughRoute(
  dependencies: Pick<RelayDependencies, "configSnapshot" | "sharesAccount">,
  providerId: string,
  path: string,
  query: string,
): PassThroughRoute {
  const provider = dependencies.configSnapshot().providers.get(providerId);
  const kind = provider === undefined ? null : providerKind(provider.kind);
  if (provider === undefined || kind === null) throw noSuchProvider(providerId);
  if (!provider.enabled) throw new Failure("no_deployment_available", "The provider is switched off.");
  const target = passThroughTarget(provider, path, query);
  const called = target.lane;
  const own = called === null ? undefined : endpointProtocols[called.lane.endpoint as CallEndpointId];
  // The same endpoint may have another dialect (Bedrock's own).
  const isRead = own !== undefined && own.wireDialect === called?.lane.dialect;
  return {
    provider,
    kind,
    target,
    protocol: isRead ? own : { ...endpointProtocols["pass-through"], dialect: dialectOf(kind) },
    path: called === null || called.model === null ? null : { model: called.model, stream: called.streamPath },
    isRead,
    isShared: dependencies.sharesAccount(provider.id),
    isSigned: kind.signsBody === true,
  };
}

/** The dialect of errors of a provider's own API. */
export function dialectOf(kind: ProviderKind): Dialect {
  const [lane] = kind.lanes;
  return lane === undefined ? openaiChat : (dialects[lane.dialect] ?? openaiChat);
}

/** The same answer whether the provider does not exist or is not granted. */
export function noSuchProvider(id: string): Failure {
  const shown = id.slice(0, 64).replaceAll(/[^\x21-\x7e]/g, "?");
  return new Failure("not_found", `There is no provider "${shown}" that this key may be passed through to.`, {
    param: "provider",
  });
}

const dialects: { readonly [Id in WireDialectId]?: Dialect } = {
  "anthropic-messages": anthropicMessages,
  gemini,
};

export interface PassThroughPrice extends SoldModel {
  /** `unread`: it may generate, and cannot be read. `unknown`: its cost is unknown. A key with a budget may make neither. */
  readonly by: "model" | "call" | "nothing" | "unread" | "unknown";
  /** The minimum charge. */
  readonly floor: PriceVersion | null;
  /** The factor on the held amount if the call chose a tier, a region or a speed, because the answer determines the price. */
  readonly heldTimes: number;
}

/** A form field that is not a file. `text` null: it is too long to name an object. */
export interface PassThroughField {
  readonly name: string;
  readonly text: string | null;
  /** Its place in the form. */
  readonly span: { readonly start: number; readonly end: number };
}

/** A call for a provider's own API. */
export interface PassThroughCall {
  readonly call: Call;
  readonly route: PassThroughRoute;
  readonly price: PassThroughPrice;
  /** The body was read into `call.facts`. */
  readonly isRead: boolean;
  readonly method: OutboundMethod;
  /** Bytes where its provider's signature covers it. */
  readonly body: Uint8Array | Spooled | null;
  /** Fields of a form that may name objects. null: not a form, or one that is not read. */
  readonly fields: readonly PassThroughField[] | null;
  /** The form in `body` with the names of the account's copies. It is sent instead. */
  readonly form?: { readonly size: number; open(): ReadableStream<Uint8Array> };
  /** Names of the workspace's files, with the names of the account's copies that replace them in the body. */
  readonly fileNames?: ReadonlyMap<string, string>;
  /** A guardrail reads the answer, so a text is not streamed. */
  readonly isAnswerChecked?: boolean;
}

/**
 * The price of a call: the reported usage at the price of the model that it names at this provider, else of the most expensive model
 * served there; and at least the provider's price per call, unless the request shows that the model's price applies. Counting tokens is
 * free. `facts` null: the body cannot be read.
 */
export function passThroughPrice(
  configSnapshot: ConfigSnapshot,
  route: PassThroughRoute,
  facts: RequestFacts | null,
  hasBody: boolean,
): PassThroughPrice {
  const { provider, protocol } = route;
  const upstreamModel = facts?.model ?? route.path?.model ?? "";
  if (facts !== null && counting.has(protocol.endpoint)) {
    return { ...unsold(provider, upstreamModel, null), by: "nothing", ...free };
  }
  const { pricePerCall: nanoUsd } = passThroughOf(provider);
  const floor = nanoUsd === null ? null : pricePerCall(nanoUsd);
  const endpoint = route.target.lane?.lane.endpoint;
  const isUnread = facts === null && hasBody && endpoint !== undefined && !counting.has(endpoint);
  let sold: SoldModel | undefined;
  if (facts !== null || isUnread) {
    sold =
      upstreamModel === "" && endpoint !== undefined
        ? mostExpensiveAt(configSnapshot, provider.id, endpoint)
        : soldAt(configSnapshot, provider.id).get(upstreamModel);
  }
  const chosen = facts === null ? "else" : choiceOf(route, facts);
  if (sold !== undefined && chosen !== "else") {
    return { ...sold, by: "model", ...free, heldTimes: chosen === "tier" ? tierTimesMax : 1 };
  }
  const by = isUnread ? "unread" : floor === null ? "unknown" : "call";
  if (sold !== undefined) return { ...sold, by, floor, heldTimes: 1 };
  return { ...unsold(provider, upstreamModel, floor), by, ...free };
}

const free = { floor: null, heldTimes: 1 } as const;

/** The most expensive tier or speed of any vendor. */
const tierTimesMax = Math.max(...usualFactors.map(({ factor }) => factor)) / 1_000;

const counting: ReadonlySet<string> = new Set(["count-tokens", "input-tokens", "gemini-count-tokens"]);

/** A placeholder model for a call that no configured model covers. */
export function unsold(provider: Provider, upstreamModel: string, price: Model["price"]): SoldModel {
  const deployment = { id: "", provider, upstreamModel, priority: 1, weight: 1, enabled: true, contextWindow: null };
  return {
    model: {
      name: passedModel,
      type: "chat",
      ownedBy: "",
      createdAt: 0,
      deployments: [deployment],
      fallbacks: [],
      contextWindow: null,
      outputTokensMax: 0,
      price,
    },
    deployment,
  };
}

/** Whether the request chooses something that changes the price. Answers report a tier, and nothing else. */
function choiceOf({ provider, kind }: PassThroughRoute, facts: RequestFacts): "plain" | "tier" | "else" {
  if ((facts.namedModels ?? []).length > 0) return "else";
  if (facts.governed === undefined) return "plain";
  const { names } = governingFor(provider, facts.governed, kind.memberRules ?? {});
  if (names.length === 0) return "plain";
  return names.every((name) => tierMembers.has(name)) ? "tier" : "else";
}

function mostExpensiveAt(
  configSnapshot: ConfigSnapshot,
  provider: string,
  endpoint: EndpointId,
): SoldModel | undefined {
  const types: readonly string[] = endpoint in modelEndpoints ? modelEndpoints[endpoint as ModelEndpoint].types : [];
  let highest: SoldModel | undefined;
  for (const model of configSnapshot.models.values()) {
    const deployment = model.deployments.find((one) => one.provider.id === provider);
    if (model.price === null || deployment === undefined || !types.includes(model.type)) continue;
    if (highest === undefined || priceSum(model) > priceSum(highest.model)) highest = { model, deployment };
  }
  return highest;
}

type ModelEndpoint = keyof typeof modelEndpoints;

function priceSum({ price }: Model): number {
  return Object.values({ ...price?.table, longContext: 0 }).reduce((sum, pico) => sum + pico, 0);
}

export class PassThroughEstimate extends CallEstimate {
  override readonly tokens: number;
  override readonly isFree: boolean;
  readonly #price: PassThroughPrice;

  constructor(dependencies: EstimateDependencies, call: Call, price: PassThroughPrice, isRead: boolean) {
    super(dependencies, call, [price.model]);
    this.isFree = price.by === "nothing";
    this.tokens = isRead ? dependencies.forecast.tokens(call, price.model) : 0;
    this.#price = price;
  }

  /** Throws Failure forbidden for a call of unknown cost. */
  override money(): Money {
    const { by, floor, heldTimes } = this.#price;
    if (by === "unread")
      throw uncounted("its body cannot be read as a call of this path. Send it as JSON, or call the model under /v1.");
    if (by === "unknown")
      throw uncounted(
        "the provider has no price for pass-through calls (settings.pass_through.price_per_call), and no model with a price is called.",
      );
    const { most, least } = super.money();
    const atLeast = floor === null ? 0 : costOf(floor.table, { ...noUsage, chargedRequests: 1 });
    return { most: Math.max(most * heldTimes, atLeast), least: Math.max(least * heldTimes, atLeast) };
  }
}

function uncounted(why: string): Failure {
  return new Failure("forbidden", `This key has a budget, and the cost of this call is unknown: ${why}`);
}

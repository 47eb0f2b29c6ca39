import { Failure, type Provider, type WireDialectId } from "#core/index.ts";
import { anthropicMessages, type Dialect, gemini, openaiChat, type PathFacts } from "#protocols/index.ts";
import { type PassThroughTarget, type ProviderKind, passThroughTarget, providerKind } from "#providers/index.ts";
import type { EndpointProtocol } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";

/** `path` begins with a slash and is as its caller wrote it. */
export interface PassedAsk {
  readonly providerId: string;
  readonly path: string;
  /** Without `?`; may be empty. */
  readonly query: string;
}

export interface PassedPlace {
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
}

/** Throws Failure not_found, no_deployment_available, invalid_request or forbidden. */
export function passedPlace(
  dependencies: Pick<RelayDependencies, "configSnapshot" | "sharesAccount">,
  ask: PassedAsk,
  endpointProtocols: Readonly<Record<string, EndpointProtocol>>,
): PassedPlace {
  const provider = dependencies.configSnapshot().providers.get(ask.providerId);
  const kind = provider === undefined ? null : providerKind(provider.kind);
  if (provider === undefined || kind === null) throw noSuchProvider(ask.providerId);
  if (!provider.enabled) throw new Failure("no_deployment_available", "The provider is switched off.");
  const target = passThroughTarget(provider, ask.path, ask.query);
  const called = target.lane;
  const known = called === null ? undefined : endpointProtocols[called.lane.endpoint];
  // At the same endpoint there may be another dialect (Bedrock's own).
  const isRead = known !== undefined && known.wireDialect === called?.lane.dialect;
  const unread = endpointProtocols["pass-through"];
  if (unread === undefined) throw new Error("nothing is known of calls that are passed through");
  return {
    provider,
    kind,
    target,
    protocol: isRead ? known : { ...unread, dialect: dialectOf(kind) },
    path: called === null || called.model === null ? null : { model: called.model, stream: called.streamPath },
    isRead,
    isShared: dependencies.sharesAccount(provider.id),
    isSigned: kind.signsBody === true,
  };
}

/** The dialect of errors of a provider's own API, where that is known. */
export function dialectOf(kind: ProviderKind): Dialect {
  const [lane] = kind.lanes;
  return lane === undefined ? openaiChat : (dialects[lane.dialect] ?? openaiChat);
}

/** One that is not granted looks like one that does not exist. */
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

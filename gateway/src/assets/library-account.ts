import {
  type AssetGroup,
  asFailure,
  type ConfigSnapshot,
  Failure,
  type PlatformId,
  type Provider,
} from "#core/index.ts";
import type { WholeAnswer } from "#provider-client/index.ts";
import {
  type AssetLibrary,
  type AssetTexts,
  accountRedactor,
  type GoodAnswer,
  type LibraryAsset,
  type OutboundDraft,
  providerKind,
} from "#providers/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";

/** Bounds for one request to an asset library. */
const assetLibraryMs = 30_000;
const assetLibraryBytesMax = 256 * 1024;

type Dependencies = Pick<AssetsDependencies, "providerClient" | "clock">;

/** A provider account with an asset library. */
export class LibraryAccount {
  readonly provider: Provider;
  readonly #library: AssetLibrary;
  readonly #dependencies: Dependencies;

  constructor(provider: Provider, library: AssetLibrary, dependencies: Dependencies) {
    this.provider = provider;
    this.#library = library;
    this.#dependencies = dependencies;
  }

  get platform(): Exclude<PlatformId, "local"> {
    return this.#library.platform;
  }

  /** The project in the account's settings. */
  get ownProject(): string {
    const { project_name: name } = this.provider.settings;
    return typeof name === "string" && name !== "" ? name : "default";
  }

  createGroup(group: Pick<AssetGroup, "name" | "description" | "projectName">, signal: AbortSignal): Promise<string> {
    return this.#create(this.#library.createGroup(this.provider, group, this.#now()), signal);
  }

  createAsset(asset: AssetTexts, signal: AbortSignal): Promise<string> {
    return this.#create(this.#library.createAsset(this.provider, asset, this.#now()), signal);
  }

  /** null: the library has no such asset any more. */
  poll(upstreamId: string, projectName: string, signal: AbortSignal): Promise<LibraryAsset | null> {
    const draft = this.#library.getAsset(this.provider, { upstreamId, projectName }, this.#now());
    return this.#withLibraryErrors(async () => {
      const answer = await this.#askUnlessGone(draft, signal);
      return answer === null ? null : this.#redacted(this.#library.readAsset(answer));
    });
  }

  /** A missing asset counts as deleted. */
  async deleteAsset(upstreamId: string, projectName: string, signal: AbortSignal): Promise<void> {
    const draft = this.#library.deleteAsset(this.provider, { upstreamId, projectName }, this.#now());
    await this.#withLibraryErrors(() => this.#askUnlessGone(draft, signal));
  }

  async deleteGroup(upstreamId: string, projectName: string, signal: AbortSignal): Promise<void> {
    const draft = this.#library.deleteGroup(this.provider, { upstreamId, projectName }, this.#now());
    await this.#withLibraryErrors(() => this.#askUnlessGone(draft, signal));
  }

  #now(): number {
    return this.#dependencies.clock.now();
  }

  /** Returns the id of the created object. */
  #create(draft: OutboundDraft, signal: AbortSignal): Promise<string> {
    return this.#withLibraryErrors(async () => {
      const answer = await this.#send(draft, signal);
      if (answer.good) return this.#library.readId(answer);
      throw this.#refusal(answer).failure;
    });
  }

  async #askUnlessGone(draft: OutboundDraft, signal: AbortSignal): Promise<GoodAnswer | null> {
    const answer = await this.#send(draft, signal);
    if (answer.good) return answer;
    const { gone, failure } = this.#refusal(answer);
    if (gone) return null;
    throw failure;
  }

  /** Our message with the library's error code. */
  #refusal(answer: WholeAnswer): { readonly gone: boolean; readonly failure: Failure } {
    const { gone, failure, code } = this.#library.classify(answer);
    if (code === null || !codeForm.test(code)) return { gone, failure };
    return { gone, failure: failure.with({ message: `${failure.message.replace(/\.$/, "")} (${code}).` }) };
  }

  /** Library drafts are already signed. */
  async #send(draft: OutboundDraft, signal: AbortSignal): Promise<WholeAnswer> {
    const { providerClient } = this.#dependencies;
    const totalMs = assetLibraryMs;
    const connectMs = Math.min(this.provider.timeouts.connectMs, totalMs);
    const headersMs = Math.min(this.provider.timeouts.headersMs, totalMs);
    const clocks = { connectMs, headersMs, totalMs, ownConnection: true };
    const answer = await providerClient.send(draft, clocks, signal);
    return providerClient.read(this.provider, answer, { bytesMax: assetLibraryBytesMax, limitMs: totalMs });
  }

  #redacted(asset: LibraryAsset): LibraryAsset {
    if (asset.error === null) return asset;
    const redactor = accountRedactor(this.provider);
    const error = { code: redactor.text(asset.error.code), message: redactor.text(asset.error.message) };
    return { ...asset, error };
  }

  /** Adds whose failure it is. The library's own answer stays in `cause` for the log, because it may name the account. */
  async #withLibraryErrors<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (thrown) {
      const failure = accountRedactor(this.provider).failure(asFailure(thrown));
      if (failure.code === "client_closed" || failure.code === "internal_error") throw failure;
      const { param, retry, unhealthy, upstream, retryAfterMs } = failure;
      const callersFault = retry === "never" && upstream !== undefined && upstream.status < 500;
      const code = callersFault ? "invalid_request" : failure.code;
      throw new Failure(code, `The asset library of ${this.platform}: ${failure.message}`, {
        param,
        retry,
        unhealthy,
        cause: failure,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
    }
  }
}

/** Other codes are not repeated. */
const codeForm = /^[\w.-]{1,100}$/;

/** null: the provider type has no library, or the account lacks its keys. */
export function libraryAccount(provider: Provider, dependencies: Dependencies): LibraryAccount | null {
  const library = providerKind(provider.kind)?.library;
  if (library === undefined || library.lacks(provider) !== null) return null;
  return new LibraryAccount(provider, library, dependencies);
}

/**
 * The account for new material of a platform, preferably with the group's project. Throws Failure invalid_request, with the
 * missing setting, if there is none.
 */
export function chooseAccount(
  configSnapshot: ConfigSnapshot,
  platform: Exclude<PlatformId, "local">,
  projectName: string | null,
  dependencies: Dependencies,
): LibraryAccount {
  const candidates = [...configSnapshot.providers.values()]
    .filter(({ enabled, kind }) => enabled && providerKind(kind)?.library?.platform === platform)
    .sort((one, other) => rank(one, projectName) - rank(other, projectName) || (one.id < other.id ? -1 : 1));
  for (const provider of candidates) {
    const account = libraryAccount(provider, dependencies);
    if (account !== null) return account;
  }
  const [nearest] = candidates;
  const why = nearest === undefined ? null : (providerKind(nearest.kind)?.library?.lacks(nearest) ?? null);
  const message =
    nearest === undefined || why === null
      ? `No provider has the asset library of ${platform}.`
      : `The asset library of ${platform} cannot be used with the provider ${nearest.id}: ${why}.`;
  throw new Failure("invalid_request", message, { param: "platform" });
}

function rank(provider: Provider, projectName: string | null): number {
  return projectName !== null && provider.settings["project_name"] === projectName ? 0 : 1;
}

/** The error of an asset that its library lost. */
export const goneError: NonNullable<LibraryAsset["error"]> = {
  code: "gone",
  message: "The asset library no longer has it.",
};

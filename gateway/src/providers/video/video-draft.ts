import type { Provider } from "#core/index.ts";
import type { OutboundDraft } from "../outbound-draft.ts";

export interface VideoRequest {
  readonly provider: Provider;
  readonly url: string;
  readonly upstreamModel?: string;
  readonly method?: OutboundDraft["method"];
  readonly headers?: Readonly<Record<string, string>>;
  /** Members that are undefined stay out. */
  readonly json?: object;
}

/** A request about a video, before its credential is put on it. */
export function videoDraft(request: VideoRequest): OutboundDraft {
  const { provider, url, upstreamModel = "", method = "GET", headers = {}, json } = request;
  const typed = json === undefined ? {} : { "content-type": "application/json" };
  return {
    provider,
    upstreamModel,
    stream: false,
    method,
    url,
    headers: { accept: "application/json", ...typed, ...headers },
    body: json === undefined ? null : encoder.encode(JSON.stringify(json)),
  };
}

const encoder = new TextEncoder();

/** What an account's paths stand below, without a slash at its end. */
export type RootOf = (provider: Provider) => string;

export const plainRoot: RootOf = ({ baseUrl }) => baseUrl.replace(/\/+$/, "");

/** The host alone, for vendors whose video API stands beside the path that operators write for their chat. */
export const hostRoot: RootOf = ({ baseUrl }) => /^[a-z]+:\/\/[^/]+/.exec(baseUrl)?.[0] ?? baseUrl;

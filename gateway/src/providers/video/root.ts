import type { Provider } from "#core/index.ts";

/** What an account's paths stand below, without a slash at its end. */
export type RootOf = (provider: Provider) => string;

export const plainRoot: RootOf = ({ baseUrl }) => baseUrl.replace(/\/+$/, "");

/** The host alone, for vendors whose video API stands beside the path that operators write for their chat. */
export const hostRoot: RootOf = ({ baseUrl }) => /^[a-z]+:\/\/[^/]+/.exec(baseUrl)?.[0] ?? baseUrl;

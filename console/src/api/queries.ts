import { QueryClient } from "@tanstack/react-query";
import { Problem } from "../client/problem.ts";

/** What a second try cannot mend is not tried again. */
const worthAnother = new Set(["unreachable", "draining", "upstream_unreachable", "http_502", "http_503", "http_504"]);

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && error instanceof Problem && worthAnother.has(error.code),
        // The console often runs on the same machine as the gateway, with no network at all.
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
}

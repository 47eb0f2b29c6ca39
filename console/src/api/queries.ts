import { QueryClient } from "@tanstack/react-query";
import { Problem } from "../client/problem.ts";

/** Errors that a second attempt cannot fix are not retried. */
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

import type { ConsoleCall } from "@sluice/contract";
import { createContext, type ReactNode, use } from "react";
import type { sendJson } from "../client/call.ts";

interface Calls {
  /** The admin API. */
  readonly call: ConsoleCall;
  /** The sign-in API, with the same handling of ended sessions and required sign-ins. */
  readonly ask: typeof sendJson;
}

const CallContext = createContext<Calls | null>(null);

export function CallProvider({ call, ask, children }: Calls & { readonly children: ReactNode }) {
  return <CallContext value={{ call, ask }}>{children}</CallContext>;
}

function useCalls(): Calls {
  const calls = use(CallContext);
  if (calls === null) throw new Error("This is used outside CallProvider.");
  return calls;
}

/** The client itself, for calls that are neither queries nor mutations. */
export function useClient(): ConsoleCall {
  return useCalls().call;
}

export function useAsk(): Calls["ask"] {
  return useCalls().ask;
}

import { createContext, type ReactNode, use, useMemo, useState } from "react";

type ArrivalKind = "setup" | "invite" | "reset";

/** The one-time link that opened the page. Its secret was in the URL fragment, which is cleared already. */
export interface Arrival {
  readonly kind: ArrivalKind;
  readonly token: string;
}

const kinds: readonly ArrivalKind[] = ["setup", "invite", "reset"];

/**
 * Reads the secret of a one-time link from the URL fragment (`#setup=…`) and removes it from the address bar and the history. Browsers
 * never send fragments to servers, so the secret is in no log or referrer.
 */
export function takeArrival(): Arrival | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  for (const kind of kinds) {
    const token = fragment.get(kind);
    if (token === null) continue;
    history.replaceState(null, "", location.pathname + location.search);
    return token === "" ? null : { kind, token };
  }
  return null;
}

interface ArrivalState {
  readonly arrival: Arrival | null;
  /** The link was used, or the visitor continued without it. */
  readonly leave: () => void;
}

const ArrivalContext = createContext<ArrivalState>({ arrival: null, leave: () => undefined });

export function ArrivalProvider({
  arrival,
  children,
}: {
  readonly arrival: Arrival | null;
  readonly children: ReactNode;
}) {
  const [current, setCurrent] = useState(arrival);
  const state = useMemo(() => ({ arrival: current, leave: () => setCurrent(null) }), [current]);
  return <ArrivalContext value={state}>{children}</ArrivalContext>;
}

export function useArrival(): ArrivalState {
  return use(ArrivalContext);
}

import { createContext, type ReactNode, use } from "react";
import type { Confirmation } from "./confirmation.ts";

const ConfirmationContext = createContext<Confirmation | null>(null);

interface ConfirmationProviderProps {
  readonly confirmation: Confirmation;
  readonly children: ReactNode;
}

export function ConfirmationProvider({ confirmation, children }: ConfirmationProviderProps) {
  return <ConfirmationContext value={confirmation}>{children}</ConfirmationContext>;
}

export function useConfirmation(): Confirmation {
  const confirmation = use(ConfirmationContext);
  if (confirmation === null) throw new Error("useConfirmation is used outside ConfirmationProvider.");
  return confirmation;
}

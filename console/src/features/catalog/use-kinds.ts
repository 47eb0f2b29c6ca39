import type { ProviderKindForm } from "@sluice/contract";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import { kindInWords } from "./kind-words.ts";

/** The kinds of providers by their name. They change with the version of the gateway only. */
export function useKinds(enabled = true): {
  readonly kinds: readonly ProviderKindForm[] | null;
  readonly kindOf: (kind: string) => ProviderKindForm | null;
  /** "Volcengine Ark", or the bare ID of an unknown type. */
  readonly titleOf: (kind: string) => string;
} {
  const told = useCall("providers.kinds", { enabled }).data?.data ?? null;
  return useMemo(() => {
    const kinds = told === null ? null : told.map((form) => kindInWords(form));
    const byName = new Map((kinds ?? []).map((kind) => [kind.kind, kind]));
    return {
      kinds,
      kindOf: (kind) => byName.get(kind) ?? null,
      titleOf: (kind) => byName.get(kind)?.title ?? kind,
    };
  }, [told]);
}

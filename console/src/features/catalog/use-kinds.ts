import type { ProviderKindForm } from "@sluice/contract";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import { kindInWords } from "./kind-words.ts";

/** The provider types by name. They change only with the version of the gateway. */
export function useKinds(enabled = true): {
  readonly kinds: readonly ProviderKindForm[] | null;
  readonly kindOf: (kind: string) => ProviderKindForm | null;
  /** "Volcengine Ark", or the bare ID of an unknown type. */
  readonly titleOf: (kind: string) => string;
} {
  const forms = useCall("providers.kinds", { enabled }).data?.data ?? null;
  return useMemo(() => {
    const kinds = forms === null ? null : forms.map((form) => kindInWords(form));
    const byName = new Map((kinds ?? []).map((kind) => [kind.kind, kind]));
    return {
      kinds,
      kindOf: (kind) => byName.get(kind) ?? null,
      titleOf: (kind) => byName.get(kind)?.title ?? kind,
    };
  }, [forms]);
}

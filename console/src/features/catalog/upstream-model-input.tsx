import { Autocomplete } from "@mantine/core";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/catalog.ts";

interface UpstreamModelInputProps {
  /** null: none is chosen yet. */
  readonly provider: string | null;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: ReactNode;
}

/** The upstream's name of a model, with suggestions from the provider's list. Any other name may be typed. */
export function UpstreamModelInput({ provider, placeholder, value, onChange, error }: UpstreamModelInputProps) {
  const listed = useCall("providers.upstreamModels", {
    params: { provider: provider ?? "-" },
    enabled: provider !== null,
  });
  const help =
    provider === null
      ? t("catalog.upstream.help")
      : listed.isPending
        ? t("catalog.upstream.loading")
        : listed.data === undefined
          ? t("catalog.upstream.noList")
          : t("catalog.upstream.choose");
  return (
    <Autocomplete
      label={t("catalog.upstream.label")}
      description={help}
      placeholder={placeholder}
      data={[...new Set((listed.data?.data ?? []).map(({ id }) => id))]}
      limit={100}
      maxLength={256}
      spellCheck={false}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}

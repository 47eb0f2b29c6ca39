import { Autocomplete } from "@mantine/core";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";

interface UpstreamModelInputProps {
  /** null: none is chosen yet. */
  readonly provider: string | null;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: ReactNode;
}

/** The upstream's name of a model, with what the provider's account lists to choose from. Any other may be typed. */
export function UpstreamModelInput({ provider, placeholder, value, onChange, error }: UpstreamModelInputProps) {
  const listed = useCall("providers.upstreamModels", {
    params: { provider: provider ?? "-" },
    enabled: provider !== null,
  });
  const help =
    provider === null
      ? "What the provider calls it."
      : listed.isPending
        ? "Asking the provider for its models…"
        : listed.data === undefined
          ? "The provider gave no list: type what it calls the model."
          : "Choose from the account's list, or type what the provider calls it.";
  return (
    <Autocomplete
      label="Upstream model"
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

import { MultiSelect } from "@mantine/core";
import { useCall } from "../api/use-call.ts";
import { t } from "../language/areas/components.ts";
import { useSession } from "../session/session-context.tsx";

interface PassThroughFieldProps {
  /** Ids of providers. */
  readonly value: readonly string[];
  readonly onChange: (providers: string[]) => void;
  readonly disabled?: boolean;
  readonly error: string | null;
}

/** The providers with pass-through access: administrators choose them, others see what is granted. */
export function PassThroughField({ value, onChange, disabled = false, error }: PassThroughFieldProps) {
  const mayGrant = useSession().may("administrator");
  const providers = useCall("providers.list", { enabled: mayGrant });
  const names = providers.data?.data.map(({ id }) => id) ?? [];
  return (
    <MultiSelect
      label={t("components.passThrough.label")}
      description={mayGrant ? t("components.passThrough.help") : t("components.passThrough.readOnly")}
      placeholder={value.length === 0 ? t("components.passThrough.none") : ""}
      data={[...new Set([...names, ...value])].toSorted()}
      value={[...value]}
      onChange={onChange}
      searchable={names.length > 8}
      clearable
      disabled={disabled || !mayGrant}
      error={error ?? providers.error?.message ?? null}
    />
  );
}

import { NumberInput, Select, SimpleGrid } from "@mantine/core";
import type { LimitsConfig } from "@sluice/contract";
import { formatCount } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import { ShadowSwitch } from "./shadow-switch.tsx";

interface LimitsFormProps {
  readonly value: LimitsConfig;
  readonly onChange: (limits: LimitsConfig) => void;
  readonly disabled?: boolean;
  /** Limits of the higher levels, which apply too; shown as placeholders. */
  readonly wider?: LimitsConfig;
  /** Shows what happens when the shared counters cannot be reached. */
  readonly withFail?: boolean;
}

const kinds = [
  { name: "rpm", label: t("components.limits.rpm") },
  { name: "tpm", label: t("components.limits.tpm") },
  { name: "concurrency", label: t("components.limits.concurrency") },
] as const;

/** Rate and concurrency limits. An empty field sets no limit at this level; limits of higher levels still apply. */
export function LimitsForm({ value, onChange, disabled = false, wider, withFail = false }: LimitsFormProps) {
  const isLimited = kinds.some(({ name }) => value[name] !== undefined);
  const inherited = wider?.enforce === false ? undefined : wider;
  return (
    <SimpleGrid cols={{ base: 1, xs: withFail ? 2 : 3 }} spacing="sm">
      {kinds.map(({ name, label }) => (
        <NumberInput
          key={name}
          label={label}
          placeholder={
            inherited?.[name] === undefined
              ? t("components.limits.none")
              : t("components.limits.inherited", { limit: formatCount(inherited[name]) })
          }
          min={1}
          max={1_000_000_000_000}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator
          hideControls
          disabled={disabled}
          value={value[name] ?? ""}
          onChange={(next) => onChange(withValue(value, name, typeof next === "number" ? next : null))}
        />
      ))}
      {withFail && (
        <Select
          label={t("components.limits.fail")}
          data={[
            { value: "open", label: t("components.limits.failOpen") },
            { value: "closed", label: t("components.limits.failClosed") },
          ]}
          placeholder={t("components.limits.failDefault")}
          clearable
          disabled={disabled}
          value={value.fail ?? null}
          onChange={(next) => onChange(withValue(value, "fail", next === "open" || next === "closed" ? next : null))}
        />
      )}
      {isLimited && (
        <ShadowSwitch value={value} onChange={onChange} disabled={disabled} name={t("components.shadow.limits")} />
      )}
    </SimpleGrid>
  );
}

/** A copy with one field set, or removed for null, because the gateway treats an absent limit and an empty one differently. */
function withValue<Name extends keyof LimitsConfig>(
  limits: LimitsConfig,
  name: Name,
  value: LimitsConfig[Name] | null,
): LimitsConfig {
  const { [name]: _, ...rest } = limits;
  return value === null ? rest : { ...rest, [name]: value };
}

import { Chip, Group, Input, NumberInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { formatShare } from "../../client/format.ts";
import { t } from "../../language/areas/alerts.ts";

interface PercentChipsProps {
  readonly value: readonly number[];
  readonly onChange: (percents: readonly number[]) => void;
  readonly error: string | null;
}

const usual = [25, 50, 75, 80, 90, 95, 100] as const;
const sharesMax = 10;

/** The thresholds of an alert: the usual ones and custom ones. */
export function PercentChips({ value, onChange, error }: PercentChipsProps) {
  const [other, setOther] = useState<number | null>(null);
  const shown = [...new Set([...usual, ...value])].sort((one, next) => one - next);
  const add = () => {
    if (other === null || (value.length >= sharesMax && !value.includes(other))) return;
    onChange([...new Set([...value, other])]);
    setOther(null);
  };
  return (
    <Input.Wrapper
      label={t("alerts.form.thresholds")}
      description={t("alerts.form.thresholdsHelp")}
      error={error}
      labelElement="div"
      required
    >
      <Group gap={6} mt={6} role="group" aria-label={t("alerts.form.thresholdsGroup")}>
        {shown.map((percent) => (
          <Chip
            key={percent}
            size="xs"
            checked={value.includes(percent)}
            disabled={!value.includes(percent) && value.length >= sharesMax}
            onChange={(checked) => onChange(checked ? [...value, percent] : value.filter((each) => each !== percent))}
          >
            {formatPercent(percent)}
          </Chip>
        ))}
        <NumberInput
          size="xs"
          w={90}
          aria-label={t("alerts.form.thresholdOther")}
          placeholder={t("alerts.form.thresholdOtherPlaceholder")}
          min={1}
          max={100}
          clampBehavior="strict"
          allowDecimal={false}
          allowNegative={false}
          hideControls
          value={other ?? ""}
          onChange={(next) => setOther(typeof next === "number" && next >= 1 ? next : null)}
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            // Enter adds the share; it does not send the form.
            event.preventDefault();
            add();
          }}
          rightSection={other === null ? null : <IconPlus size={12} aria-hidden />}
        />
      </Group>
    </Input.Wrapper>
  );
}

/** 80: `80%` */
export function formatPercent(percent: number): string {
  return formatShare(percent / 100);
}

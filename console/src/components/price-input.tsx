import { NumberField } from "./number-field.tsx";

interface PriceInputProps {
  readonly label: string;
  /** The unit of the price: "per million tokens". */
  readonly unit: string;
  /** The placeholder. */
  readonly empty: string;
  readonly disabled: boolean;
  readonly value: number | undefined;
  /** US dollars; null: the field is empty. */
  readonly onChange: (usd: number | null) => void;
}

/** One price, in US dollars. */
export function PriceInput({ label, unit, empty, disabled, value, onChange }: PriceInputProps) {
  return (
    <NumberField
      label={label}
      description={unit}
      placeholder={empty}
      prefix="$"
      min={0}
      max={9_000_000}
      decimalScale={9}
      allowNegative={false}
      hideControls
      disabled={disabled}
      value={value ?? null}
      onChange={onChange}
    />
  );
}

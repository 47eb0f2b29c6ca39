import { NumberInput, type NumberInputProps } from "@mantine/core";
import { useState } from "react";
import { numberOf } from "./number-of.ts";

interface NumberFieldProps extends Omit<NumberInputProps, "value" | "defaultValue" | "onChange"> {
  /** null: the field is empty. */
  readonly value: number | null;
  /** The number after each key press. null: empty, or not a number yet. */
  readonly onChange: (value: number | null) => void;
}

/**
 * A decimal number. While typing, the text may not be a number yet or not be in its normal form: "1.", "0.0", "1.50". The typed text
 * stays in the field until the value is changed from outside.
 */
export function NumberField({ value, onChange, ...rest }: NumberFieldProps) {
  const [typed, setTyped] = useState<number | string>(value ?? "");
  return (
    <NumberInput
      {...rest}
      value={numberOf(typed) === value ? typed : (value ?? "")}
      onChange={(next) => {
        setTyped(next);
        onChange(numberOf(next));
      }}
    />
  );
}

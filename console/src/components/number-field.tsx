import { NumberInput, type NumberInputProps } from "@mantine/core";
import { useState } from "react";
import { numberOf } from "./number-of.ts";

interface NumberFieldProps extends Omit<NumberInputProps, "value" | "defaultValue" | "onChange"> {
  /** null: the field is empty. */
  readonly value: number | null;
  /** What the text comes to, after each key; null where it is no number yet, or nothing. */
  readonly onChange: (value: number | null) => void;
}

/**
 * A number with places behind its point. On the way to one there are texts that are none yet, or are written otherwise: "1.",
 * "0.0", "1.50". What was typed stays in the field; a value that comes from elsewhere takes its place.
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

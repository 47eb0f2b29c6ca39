import { type FileButtonProps, FileButton as MantineFileButton } from "@mantine/core";
import { useRef } from "react";

/** Chooses files. Resets the input, because browsers send no event when the same file is chosen again. */
export function FileButton<Multiple extends boolean = false>({ onChange, ...rest }: FileButtonProps<Multiple>) {
  const forget = useRef<() => void>(null);
  return (
    <MantineFileButton<Multiple>
      {...rest}
      resetRef={forget}
      onChange={(chosen) => {
        forget.current?.();
        onChange(chosen);
      }}
    />
  );
}

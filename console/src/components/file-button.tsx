import { type FileButtonProps, FileButton as MantineFileButton } from "@mantine/core";
import { useRef } from "react";

/** Chooses files. It forgets them at once: a browser says nothing of a file that is chosen a second time. */
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

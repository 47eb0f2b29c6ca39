import { Button } from "@mantine/core";
import { t } from "../language/areas/components.ts";
import { useClose } from "./use-unsaved-input.tsx";

interface CloseButtonProps {
  /** Default: "Cancel". */
  readonly label?: string;
}

/** Closes the drawer or dialog around it, after asking if its form has input. */
export function CloseButton({ label = t("components.actions.cancel") }: CloseButtonProps) {
  return (
    <Button variant="default" onClick={useClose()}>
      {label}
    </Button>
  );
}

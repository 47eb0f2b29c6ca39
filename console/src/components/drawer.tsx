import { Drawer as MantineDrawer, type DrawerProps as MantineDrawerProps } from "@mantine/core";
import { useEscape } from "./use-escape.ts";
import { CloseProvider, useUnsavedInput } from "./use-unsaved-input.tsx";

interface DrawerProps extends MantineDrawerProps {
  /** false: closes without asking, even if its form has input. */
  readonly asks?: boolean;
  /** The form was refused, so its input is still unsaved. */
  readonly failed?: boolean;
  /** URL parameters that show the form: a change of one replaces it. */
  readonly openedBy?: readonly string[];
}

/** A panel at the side of the page. */
export function Drawer({
  closeOnEscape = true,
  asks = true,
  failed = false,
  openedBy = [],
  children,
  ...rest
}: DrawerProps) {
  const { close, handlers, guard } = useUnsavedInput({
    opened: rest.opened,
    onClose: rest.onClose,
    asks,
    failed,
    openedBy,
  });
  useEscape(rest.opened, closeOnEscape ? close : null);
  return (
    <>
      <MantineDrawer {...rest} {...handlers} onClose={close} closeOnEscape={false}>
        <CloseProvider value={close}>{children}</CloseProvider>
      </MantineDrawer>
      {guard}
    </>
  );
}

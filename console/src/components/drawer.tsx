import { type DrawerProps, Drawer as MantineDrawer } from "@mantine/core";
import { useEscape } from "./use-escape.ts";

/** A panel at the side of the page. */
export function Drawer({ closeOnEscape = true, ...rest }: DrawerProps) {
  useEscape(rest.opened, closeOnEscape ? rest.onClose : null);
  return <MantineDrawer {...rest} closeOnEscape={false} />;
}

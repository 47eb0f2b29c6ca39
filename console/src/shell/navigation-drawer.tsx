import { Drawer } from "../components/drawer.tsx";
import { Brand } from "./brand.tsx";
import { Navigation } from "./navigation.tsx";

/** The sidebar for narrow screens. */
export default function NavigationDrawer({ onClose }: { readonly onClose: () => void }) {
  return (
    <Drawer opened onClose={onClose} position="left" size="16rem" title={<Brand />} className="drawer">
      <Navigation onGo={onClose} />
    </Drawer>
  );
}

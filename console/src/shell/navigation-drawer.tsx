import { Drawer } from "../components/drawer.tsx";
import { Brand } from "./brand.tsx";
import { Navigation } from "./navigation.tsx";
import { WorkspaceSwitcher } from "./workspace-switcher.tsx";

/** The sidebar for narrow screens. */
export default function NavigationDrawer({ onClose }: { readonly onClose: () => void }) {
  return (
    <Drawer opened onClose={onClose} position="left" size="16rem" title={<Brand />} className="drawer">
      <div className="drawer-switcher">
        <WorkspaceSwitcher />
      </div>
      <Navigation onGo={onClose} />
    </Drawer>
  );
}

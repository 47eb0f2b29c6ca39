import { clientDisconnects } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

clientDisconnects(moderationsEndpoint);

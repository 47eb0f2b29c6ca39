import { clientDisconnects } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

clientDisconnects(decisionsEndpoint);

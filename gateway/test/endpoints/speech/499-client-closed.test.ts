import { clientDisconnects } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

clientDisconnects(speechEndpoint);

import { unavailable } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

unavailable(speechEndpoint);

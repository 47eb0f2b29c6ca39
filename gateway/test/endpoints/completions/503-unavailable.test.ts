import { unavailable } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

unavailable(completionsEndpoint);

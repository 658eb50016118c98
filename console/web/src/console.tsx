import { render } from "preact";

import { Console } from "./console/app";
import "./console/style.css";

render(<Console />, document.getElementById("page")!);
